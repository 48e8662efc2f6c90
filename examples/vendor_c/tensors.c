/* Tensors: making them, walking over them, ending them. All of it is right. */

#include <stdlib.h>
#include <string.h>

#include "vendor.h"

const char *op_library_version(void) { return "1.0"; }

#ifdef VENDOR_MINIMAL
/* Three dtypes in all of the minimal set; some functions have those that they are there for. */
int op_library_has(const char *name, const DataType dtype) {
    static const char *const more[] = {"op_complex", "op_conj", "op_real", "op_imag",
                                       "op_argmax", "op_argmin", "op_randperm"};
    Kind kind = vendor_kind(dtype);
    if (strcmp(name, "op_cast") == 0) return kind != VENDOR_NONE;
    for (int i = 0; i < 7; i++) {
        if (strcmp(name, more[i]) == 0 && kind == (i < 4 ? VENDOR_C64 : VENDOR_I64)) return 1;
    }
    return kind == VENDOR_BOOL || kind == VENDOR_I32 || kind == VENDOR_F32;
}
#else
/* Text can be stored, and every function refuses to compute with it. Only some have float16, and
 * fewer complex numbers. */
int op_library_has(const char *name, const DataType dtype) {
    static const char *const half[] = {"op_reduce", "op_matmul", "op_cast", "op_gather", "op_concat"};
    Kind kind = vendor_kind(dtype);
    for (int i = kind == VENDOR_F16 ? 0 : 2; i < 5; i++) {
        if (strcmp(name, half[i]) == 0) return kind != VENDOR_NONE || dtype.code == kChar;
    }
    return kind < VENDOR_F16 || (dtype.code == kChar && dtype.size == 8);
}
#endif

Kind vendor_kind(DataType dtype) {
    static const uint8_t sizes[] = {8, 16, 32, 64};
    if (dtype.code == kBool) return VENDOR_BOOL;
    for (int i = 0; i < 4; i++) {
        if (dtype.size != sizes[i]) continue;
        if (dtype.code == kInt) return (Kind)(VENDOR_I8 + i);
        if (dtype.code == kUInt) return (Kind)(VENDOR_U8 + i);
        if (dtype.code == kReal && i >= 2) return (Kind)(VENDOR_F32 + i - 2);
        if (dtype.code == kReal && i == 1) return VENDOR_F16;
        if (dtype.code == kComplex && i == 3) return VENDOR_C64;
    }
    if (dtype.code == kComplex && dtype.size == 128) return VENDOR_C128;
    return VENDOR_NONE;
}

size_t vendor_itemsize(DataType dtype) { return dtype.size < 8 ? 1 : dtype.size / 8; }

int64_t vendor_count(int64_t ndim, const int64_t *dims) {
    int64_t size = 1;
    for (int64_t i = 0; i < ndim; i++) {
        if (dims[i] < 0) return -1;
        if (dims[i] == 0) return 0;
    }
    for (int64_t i = 0; i < ndim; i++) {
        if (size > INT64_MAX / 16 / dims[i]) return -1;
        size *= dims[i];
    }
    return size;
}

static void forget(Tensor tensor) {
    if (tensor == NULL) return;
    if (tensor->storage != NULL) free(tensor->storage->data);
    free(tensor->storage);
    free(tensor->shape.dims);
    free(tensor->shape.layout.min2maj);
    free(tensor->scale);
    free(tensor);
}

Status vendor_new(DataType dtype, int64_t ndim, const int64_t *dims, Tensor *output) {
    for (int64_t i = 0; i < ndim; i++) {
        if (dims[i] < 0) return STATUS_INVALID_ARGUMENT;
    }
    int64_t size = vendor_count(ndim, dims);
    if (ndim > VENDOR_MOST_AXES) return STATUS_INVALID_ARGUMENT;
    if (size < 0) return STATUS_ALLOC_FAILED;
    Tensor made = calloc(1, sizeof *made);
    if (made == NULL) return STATUS_ALLOC_FAILED;
    made->storage = calloc(1, sizeof *made->storage);
    made->shape.dims = malloc(sizeof(int64_t) * (size_t)(ndim + 1));
    made->shape.layout.min2maj = malloc(sizeof(int64_t) * (size_t)(ndim + 1));
    if (made->storage != NULL) {
        made->storage->data = malloc(vendor_itemsize(dtype) * (size_t)size + 1);
    }
    if (made->storage == NULL || made->storage->data == NULL || made->shape.dims == NULL ||
        made->shape.layout.min2maj == NULL) {
        forget(made);
        return STATUS_ALLOC_FAILED;
    }
    made->size = made->storage->size = size;
    made->shape.ndim = ndim;
    made->shape.layout.type = kDense;
    for (int64_t i = 0; i < ndim; i++) {
        made->shape.dims[i] = dims[i];
        made->shape.layout.min2maj[i] = ndim - 1 - i;
    }
    made->storage->dtype = dtype;
    *output = made;
    return STATUS_SUCCESS;
}

Status vendor_like(const Tensor input, DataType dtype, Tensor *output) {
    return vendor_new(dtype, input->shape.ndim, input->shape.dims, output);
}

void vendor_strides(const Tensor input, int64_t *strides) {
    int64_t ndim = input->shape.ndim, step = 1;
    for (int64_t k = 0; k < ndim; k++) {
        const int64_t *order = input->shape.layout.min2maj;
        int64_t axis = order == NULL ? ndim - 1 - k : order[k];
        strides[axis] = step;
        step *= input->shape.dims[axis];
    }
}

Status vendor_broadcast(const Tensor x, const Tensor y, int64_t *ndim, int64_t *dims) {
    const Shape *a = &x->shape, *b = &y->shape;
    int64_t n = a->ndim > b->ndim ? a->ndim : b->ndim;
    if (n > VENDOR_MOST_AXES) return STATUS_DIMENSIONS_MISMATCH;
    for (int64_t i = 0; i < n; i++) { /* from the last axis on */
        int64_t p = i < a->ndim ? a->dims[a->ndim - 1 - i] : 1;
        int64_t q = i < b->ndim ? b->dims[b->ndim - 1 - i] : 1;
        if (p != q && p != 1 && q != 1) return STATUS_DIMENSIONS_MISMATCH;
        dims[n - 1 - i] = p == 1 ? q : p;
    }
    *ndim = n;
    return STATUS_SUCCESS;
}

Status vendor_walk(Walk *walk, int64_t ndim, const int64_t *dims, int count,
                   const Tensor *tensors) {
    if (ndim > VENDOR_MOST_AXES) return STATUS_INVALID_ARGUMENT;
    memset(walk, 0, sizeof *walk);
    walk->ndim = ndim;
    walk->size = walk->left = vendor_count(ndim, dims);
    for (int64_t i = 0; i < ndim; i++) walk->dims[i] = dims[i];
    for (int t = 0; t < count; t++) {
        int64_t own[VENDOR_MOST_AXES], n = tensors[t]->shape.ndim;
        int64_t item = (int64_t)vendor_itemsize(tensors[t]->storage->dtype);
        vendor_strides(tensors[t], own);
        for (int64_t i = 0; i < n; i++) {
            bool stretched = tensors[t]->shape.dims[i] == 1;
            walk->strides[t][ndim - n + i] = stretched ? 0 : own[i] * item;
        }
        walk->at[t] = tensors[t]->offset * item;
    }
    return STATUS_SUCCESS;
}

void vendor_next(Walk *walk) {
    walk->left--;
    for (int64_t axis = walk->ndim - 1; axis >= 0; axis--) {
        for (int t = 0; t < 3; t++) walk->at[t] += walk->strides[t][axis];
        if (++walk->index[axis] < walk->dims[axis]) return;
        for (int t = 0; t < 3; t++) walk->at[t] -= walk->strides[t][axis] * walk->dims[axis];
        walk->index[axis] = 0;
    }
}

static Status make(DataType dtype, Device device, Shape shape, Tensor *output) {
    if (output == NULL || shape.ndim < 0 || (shape.ndim > 0 && shape.dims == NULL) ||
        shape.layout.type != kDense || device.type != kCPU || device.id != 0 ||
        (vendor_kind(dtype) == VENDOR_NONE && dtype.code != kChar)) {
        return STATUS_INVALID_ARGUMENT;
    }
    Status status = vendor_new(dtype, shape.ndim, shape.dims, output);
    if (status == STATUS_SUCCESS && shape.layout.min2maj != NULL) {
        size_t bytes = sizeof(int64_t) * (size_t)shape.ndim;
        memcpy((*output)->shape.layout.min2maj, shape.layout.min2maj, bytes);
    }
    return status;
}

Status op_create_tensor(const DataType dtype, const Device device, const Shape shape,
                        const void *values, const int64_t n_bytes, Tensor *output) {
    Status status = make(dtype, device, shape, output);
    if (status != STATUS_SUCCESS || values == NULL) return status;
    size_t whole = vendor_itemsize(dtype) * (size_t)(*output)->size;
    size_t given = n_bytes < 0 ? 0 : (size_t)n_bytes;
    memcpy(VENDOR_DATA(*output), values, given < whole ? given : whole);
    if (given < whole) memset(VENDOR_DATA(*output) + given, 0, whole - given);
    return STATUS_SUCCESS;
}

Status op_empty(const DataType dtype, const Device device, const Shape shape, Tensor *output) {
    return make(dtype, device, shape, output);
}

Status op_zeros(const DataType dtype, const Device device, const Shape shape, Tensor *output) {
    return op_full(dtype, device, shape, NULL, output);
}

Status op_full(const DataType dtype, const Device device, const Shape shape, const void *value,
               Tensor *output) {
    Status status = make(dtype, device, shape, output);
    if (status != STATUS_SUCCESS) return status;
    size_t item = vendor_itemsize(dtype);
    for (int64_t i = 0; i < (*output)->size; i++) {
        if (value == NULL) memset(VENDOR_DATA(*output) + (size_t)i * item, 0, item);
        else memcpy(VENDOR_DATA(*output) + (size_t)i * item, value, item);
    }
    return STATUS_SUCCESS;
}

Status op_destroy(Tensor *input) {
    if (input == NULL || *input == NULL) return STATUS_UNINITIALIZED_OBJECT;
    forget(*input);
    *input = NULL;
    return STATUS_SUCCESS;
}

/* Copies the elements in row-major order into a tensor of as many. */
static Status copy(const Tensor input, Tensor output) {
    Walk walk;
    Status status = vendor_walk(&walk, input->shape.ndim, input->shape.dims, 1, &input);
    if (status != STATUS_SUCCESS) return status;
    size_t item = vendor_itemsize(input->storage->dtype);
    for (char *to = VENDOR_DATA(output); walk.left > 0; vendor_next(&walk), to += item) {
        memcpy(to, VENDOR_DATA(input) + walk.at[0], item);
    }
    return STATUS_SUCCESS;
}

Status op_duplicate(const Tensor input, Tensor *output) {
    if (input == NULL) return STATUS_UNINITIALIZED_OBJECT;
    Status status = vendor_like(input, input->storage->dtype, output);
    return status == STATUS_SUCCESS ? copy(input, *output) : status;
}

Status op_is_contiguous(const Tensor input, bool *out) {
    if (input == NULL) return STATUS_UNINITIALIZED_OBJECT;
    int64_t strides[VENDOR_MOST_AXES], step = 1;
    vendor_strides(input, strides);
    *out = true;
    for (int64_t axis = input->shape.ndim - 1; axis >= 0 && input->size > 0; axis--) {
        if (input->shape.dims[axis] > 1 && strides[axis] != step) *out = false;
        step *= input->shape.dims[axis];
    }
    return STATUS_SUCCESS;
}

Status op_contiguous(const Tensor input, Tensor *output) {
    bool already;
    Status status = op_is_contiguous(input, &already);
    if (status != STATUS_SUCCESS) return status;
    if (!already) return op_duplicate(input, output);
    *output = input;
    return STATUS_SUCCESS;
}

Status op_shape(const Tensor input, Tensor *output) {
    if (input == NULL) return STATUS_UNINITIALIZED_OBJECT;
    DataType int32 = {kInt, 32};
    Status status = vendor_new(int32, 1, &input->shape.ndim, output);
    if (status != STATUS_SUCCESS) return status;
    for (int64_t i = 0; i < input->shape.ndim; i++) {
        ((int32_t *)(*output)->storage->data)[i] = (int32_t)input->shape.dims[i];
    }
    return STATUS_SUCCESS;
}

Status op_size(const Tensor input, int *size) {
    if (input == NULL) return STATUS_UNINITIALIZED_OBJECT;
    *size = (int)input->size;
    return STATUS_SUCCESS;
}

Status op_reshape(const Tensor input, const int64_t *dims, const int64_t ndim, Tensor *output) {
    if (input == NULL) return STATUS_UNINITIALIZED_OBJECT;
    for (int64_t i = 0; i < ndim; i++) {
        if (dims[i] < 0) return STATUS_INVALID_ARGUMENT;
    }
    if (vendor_count(ndim, dims) != input->size) return STATUS_DIMENSIONS_MISMATCH;
    Status status = vendor_new(input->storage->dtype, ndim, dims, output);
    return status == STATUS_SUCCESS ? copy(input, *output) : status;
}

/* Axis i of the input becomes axis perm[i] of the output: a copy, whose layout tells that. */
Status op_transpose(const Tensor input, const int *perm, const int perm_len, Tensor *output) {
    if (input == NULL) return STATUS_UNINITIALIZED_OBJECT;
    int64_t ndim = input->shape.ndim, to[VENDOR_MOST_AXES], dims[VENDOR_MOST_AXES] = {0};
    bool seen[VENDOR_MOST_AXES] = {false};
    if (perm_len != 0 && perm_len != ndim) return STATUS_INVALID_ARGUMENT;
    for (int64_t i = 0; i < ndim; i++) {
        to[i] = perm_len == 0 ? ndim - 1 - i : perm[i];
        if (to[i] < 0) to[i] += ndim;
        if (to[i] < 0 || to[i] >= ndim || seen[to[i]]) return STATUS_INVALID_ARGUMENT;
        seen[to[i]] = true;
        dims[to[i]] = input->shape.dims[i];
    }
    Status status = vendor_new(input->storage->dtype, ndim, dims, output);
    if (status != STATUS_SUCCESS) return status;
    for (int64_t k = 0; k < ndim; k++) (*output)->shape.layout.min2maj[k] = to[ndim - 1 - k];
    return copy(input, *output);
}
