/* What the files of this library share. */

#ifndef VENDOR_H
#define VENDOR_H

#include "t_ai_131_1.h"

enum { VENDOR_MOST_AXES = 16 };

/* The dtypes this library computes with; VENDOR_NONE for all others. */
typedef enum {
    VENDOR_BOOL, VENDOR_I8, VENDOR_I16, VENDOR_I32, VENDOR_I64, VENDOR_U8, VENDOR_U16, VENDOR_U32,
    VENDOR_U64, VENDOR_F32, VENDOR_F64, VENDOR_F16, VENDOR_C64, VENDOR_C128, VENDOR_NONE
} Kind;

Kind vendor_kind(DataType dtype);
bool vendor_is_float(Kind kind);
bool vendor_is_signed(Kind kind);
uint64_t vendor_load_whole(Kind kind, const void *p);
long double vendor_load_real(Kind kind, const void *p);
void vendor_store_whole(Kind kind, uint64_t x, void *p);
void vendor_store_real(Kind kind, long double x, void *p);
size_t vendor_itemsize(DataType dtype);

/* A walk over the elements of a shape in row-major order, and where they lie in up to three tensors;
 * a tensor of fewer or shorter axes is stretched. */
typedef struct {
    int64_t ndim, size, left;
    int64_t dims[VENDOR_MOST_AXES], index[VENDOR_MOST_AXES];
    int64_t strides[3][VENDOR_MOST_AXES], at[3]; /* in bytes; from the first byte of the storage */
} Walk;

Status vendor_new(DataType dtype, int64_t ndim, const int64_t *dims, Tensor *output);
Status vendor_like(const Tensor input, DataType dtype, Tensor *output);
void vendor_strides(const Tensor input, int64_t *strides); /* in elements */
Status vendor_broadcast(const Tensor x, const Tensor y, int64_t *ndim, int64_t *dims);
Status vendor_walk(Walk *walk, int64_t ndim, const int64_t *dims, int count, const Tensor *tensors);
void vendor_next(Walk *walk);
int64_t vendor_count(int64_t ndim, const int64_t *dims); /* -1 if there is no such size */

#define VENDOR_DATA(tensor) ((char *)(tensor)->storage->data)

#endif
