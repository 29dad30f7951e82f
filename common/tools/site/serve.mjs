// SPDX-License-Identifier: MIT
// Serves a folder of files on this machine, below a base path.
//
//   node serve.mjs FOLDER BASE PORT

import fs from 'node:fs'
import http from 'node:http'
import path from 'node:path'
import { createGzip } from 'node:zlib'
import { pathToFileURL } from 'node:url'

const TYPES = {
  '.html': 'text/html; charset=utf-8', '.js': 'text/javascript; charset=utf-8', '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml', '.png': 'image/png', '.json': 'application/json', '.csv': 'text/csv; charset=utf-8',
  '.pdf': 'application/pdf', '.txt': 'text/plain; charset=utf-8', '.woff2': 'font/woff2',
}

/** The file that a request's path names, or null; folders mean their index.html. */
export function fileFor(folder, base, url) {
  let name
  try {
    name = decodeURIComponent(new URL(url, 'http://localhost').pathname)
  } catch {
    return null
  }
  if (!name.startsWith(base)) return null
  let file = path.join(folder, path.posix.normalize(`/${name.slice(base.length)}`))
  if (name.endsWith('/')) file = path.join(file, 'index.html')
  return fs.existsSync(file) && fs.statSync(file).isFile() ? file : null
}

/** Listens on 127.0.0.1; port 0 takes a free one. Resolves with the server. */
export function serve(folder, base, port) {
  const server = http.createServer((request, response) => {
    if (request.url === '/' && base !== '/') return response.writeHead(302, { location: base }).end()
    const found = fileFor(folder, base, request.url)
    const file = found ?? path.join(folder, '404.html')
    const type = TYPES[path.extname(file)] ?? 'application/octet-stream'
    // Packed like a host on the web does it.
    const packed = /text|json|svg/.test(type) && /\bgzip\b/.test(request.headers['accept-encoding'] ?? '')
    response.writeHead(found ? 200 : 404, { 'content-type': type, ...(packed && { 'content-encoding': 'gzip' }) })
    if (request.method === 'HEAD' || !fs.existsSync(file)) return response.end()
    const stream = fs.createReadStream(file)
    if (packed) stream.pipe(createGzip()).pipe(response)
    else stream.pipe(response)
  })
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => resolve(server))
  })
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [folder, base, port] = process.argv.slice(2)
  try {
    await serve(folder, base, Number(port))
    console.log(`  http://localhost:${port}${base} (end with Ctrl-C)`)
  } catch (error) {
    const taken = error.code === 'EADDRINUSE'
    console.error(
      taken
        ? `PORT=${port}: taken by another program; try: make serve PORT=${Number(port) % 65535 + 1}`
        : `PORT=${port}: cannot be listened on: ${error.code ?? error.message}`,
    )
    process.exitCode = 2
  }
}
