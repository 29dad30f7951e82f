// SPDX-License-Identifier: MIT
// Memory that device code allocates: each block ends at a guard page, and is gone when it is freed.
#include <cstdio>

#include "cases.cuh"

struct Node {
  int value;
  Node* next = nullptr;
  explicit __device__ Node(int v) : value(v) {}
  virtual __device__ ~Node() { value = 0; }
};
struct Wide : Node {
  int more[5] = {};
  explicit __device__ Wide(int v) : Node(v) {}
};

__global__ void past_the_end(int* y) {
  int* const p = static_cast<int*>(malloc(8 * sizeof(int)));  // @malloc
  for (int i = 0; i <= 8; ++i) p[i] = i;                      // @past
  y[0] = p[0];
  free(p);
}

// CASE: past_the_end
// EXPECT: {file}:{past}: error: out-of-bounds write in kernel 'past_the_end'
// EXPECT: the address is right after the end of memory of the device's heap (32 bytes)
// EXPECT: {file}:{malloc}: note: allocated here by malloc
CASE(past_the_end) {
  run_on(1, [](int* y) { past_the_end<<<1, 2>>>(y); });
}

// No guard page follows a block whose size is no multiple of 16, so this is seen when it is freed.
__global__ void into_the_slack(int* y, int n) {
  int* const p = new int[n];  // @new_slack
  for (int i = 0; i <= n; ++i) p[i] = n;
  y[0] = p[0];
  delete[] p;  // @delete_slack
}

// CASE: into_the_slack
// EXPECT: {file}:{delete_slack}: error: something wrote past the end of memory from new, found when it was freed in kernel 'into_the_slack'
// EXPECT: the allocation has 40 bytes
// EXPECT: {file}:{new_slack}: note: allocated here by new
CASE(into_the_slack) {
  run_on(1, [](int* y) { into_the_slack<<<1, 1>>>(y, 10); });
}

__global__ void after_delete(int* y) {
  int* const p = new int[4]{};  // @new
  int* const q = p + y[0];
  delete[] p;
  y[0] = q[1];  // @after
}

// CASE: after_delete
// EXPECT: {file}:{after}: error: use after free (read) in kernel 'after_delete'
// EXPECT: {file}:{new}: note: allocated here by new
// EXPECT: note: freed by delete in device code
// EXPECT-NOT: nobody has written
CASE(after_delete) {
  run_on(1, [](int* y) { after_delete<<<1, 2>>>(y); });
}

__global__ void free_twice(int* y) {
  void* const p = malloc(8);
  free(p);                               // @first
  free(static_cast<char*>(p) + 8 * *y);  // @second
}

// CASE: free_twice
// EXPECT: {file}:{second}: error: double free in device code in kernel 'free_twice'
// EXPECT: {file}:{first}: note: freed here
CASE(free_twice) {
  run_on(1, [](int* y) { free_twice<<<1, 1>>>(y); });
}

__global__ void lists(int* y, int** kept) {
  Node* head = nullptr;
  for (int i = 0; i < 20; ++i) {
    Node* const node = i % 2 == 0 ? new Node(i) : new Wide(i);
    node->next = head;
    head = node;
  }
  Node* const two = new Node[2]{Node(1), Node(2)};
  int sum = two[0].value + two[1].value;
  delete[] two;
  while (head != nullptr) {
    Node* const node = head;
    head = node->next;
    sum += node->value;
    delete node;
  }
  free(nullptr);
  for (int n = 1; n < 20; ++n) {
    char* const text = static_cast<char*>(malloc(n));
    for (int i = 0; i < n; ++i) text[i] = 'a';
    free(text);
  }
  alignas(Node) char room[sizeof(Node)];
  sum += (new (room) Node(4))->value;
  *y = sum;
  *kept = new int(sum);
}
__global__ void give_back(int* y, int** kept) {
  *y += **kept;
  delete *kept;
}

// What is right: objects of classes, another kernel that goes on with a block, placement, and more
// blocks than guard pages.
// CASE: lists
// EXPECT-STDOUT: no error, 394
// EXPECT-STDOUT: no error, 10000
__global__ void many(int* y, int** blocks) {
  for (int i = 0; i < 10000; ++i) {
    blocks[i] = new int(i);
    y[0] += *blocks[i] == i;
  }
  for (int i = 0; i < 10000; ++i) delete blocks[i];
}
CASE(lists) {
  int *y, sum = 0;
  int** blocks;
  cudaMalloc(&y, sizeof(int));
  cudaMalloc(&blocks, 10000 * sizeof(int*));
  lists<<<1, 1>>>(y, blocks);
  give_back<<<1, 1>>>(y, blocks);
  cudaMemcpy(&sum, y, sizeof sum, cudaMemcpyDeviceToHost);
  std::printf("%s, %d\n", cudaGetErrorString(cudaGetLastError()), sum);
  cudaMemset(y, 0, sizeof(int));
  many<<<1, 1>>>(y, blocks);
  cudaMemcpy(&sum, y, sizeof sum, cudaMemcpyDeviceToHost);
  std::printf("%s, %d\n", cudaGetErrorString(cudaGetLastError()), sum);
  cudaFree(y);
  cudaFree(blocks);
}
