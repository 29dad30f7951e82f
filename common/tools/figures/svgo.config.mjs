// SPDX-License-Identifier: MIT
// How SVGO makes a figure smaller. What screen readers read stays: the title, the description, the role. So does the
// version of matplotlib (draw.py compares it).
export default {
  multipass: true,
  floatPrecision: 2,
  plugins: [
    {
      name: 'preset-default',
      params: {
        overrides: {
          cleanupIds: { force: true, preserve: ['title', 'desc'] },
          removeDesc: false,
          removeMetadata: false,
          removeUnknownsAndDefaults: { keepRoleAttr: true },
        },
      },
    },
  ],
  js2svg: { finalNewline: true },
}
