// What the kernels beside this do not have: template instances, each in a section group of its own, that share device
// functions and data. scripts/corpora.sh compiles it in several ways.
#define GLOBAL __attribute__((global))
#define DEVICE __attribute__((device))

template <class T> struct Table {
  static T values[4] DEVICE;
};
template <class T> T Table<T>::values[4] DEVICE = {1, 2, 3, 4};

template <class T> __attribute__((noinline)) DEVICE T square_plus_one(T x) { return x * x + 1; }

template <class T> GLOBAL void scale(T* p, T factor, int n) {
  int i = __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x();
  if (i < n) p[i] = square_plus_one(p[i]) * factor + Table<T>::values[i & 3];
}

template <class T> GLOBAL void reverse(T* p, T offset) {
  __attribute__((shared)) T block[64];
  int i = __builtin_amdgcn_workitem_id_x();
  block[i] = p[i];
  __builtin_amdgcn_s_barrier();
  p[i] = block[63 - i] + offset;
}

template GLOBAL void scale<float>(float*, float, int);
template GLOBAL void scale<int>(int*, int, int);
template GLOBAL void reverse<float>(float*, float);
template GLOBAL void reverse<short>(short*, short);
