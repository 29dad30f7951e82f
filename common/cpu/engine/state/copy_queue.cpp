// SPDX-License-Identifier: MIT
#include "copy_queue.h"

#include <cstdlib>
#include <cstring>

#include "../../report/diagnostics.h"

namespace cuda_cpu {

void CopyQueue::put(const AsyncCopy& copy) {
  if (end == room) {
    if (first > room / 2) {
      end -= first;
      std::memmove(copies, copies + first, end * sizeof(AsyncCopy));
      first = 0;
    } else {
      room = room == 0 ? 16 : 2 * room;
      copies = static_cast<AsyncCopy*>(std::realloc(copies, room * sizeof(AsyncCopy)));
      if (copies == nullptr) die("out of memory for asynchronous copies");
    }
  }
  copies[end++] = copy;
}

}  // namespace cuda_cpu
