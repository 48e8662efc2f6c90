/* Casts, and functions that choose among elements. All of it is right. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "vendor.h"

static int bits_of(Kind kind) { return 8 << (kind - (kind >= VENDOR_U8 ? VENDOR_U8 : VENDOR_I8)); }

/* What is out of range becomes the nearest end of it, and NaN zero. */
static uint64_t truncated(Kind kind, long double x) {
    int bits = bits_of(kind);
    bool has_sign = vendor_is_signed(kind);
    long double end = ldexpl(1, has_sign ? bits - 1 : bits);
    if (x != x) return 0;
    if (x >= end) return has_sign ? (UINT64_C(1) << (bits - 1)) - 1 : UINT64_MAX >> (64 - bits);
    if (has_sign) return x < -end ? (uint64_t)-(int64_t)(end - 1) - 1 : (uint64_t)(int64_t)x;
    return x < 0 ? 0 : (uint64_t)x;
}

static void convert(Kind from, const void *p, Kind to, void *q) {
    bool wide = from == VENDOR_C64 || from == VENDOR_C128;
    bool floats = wide || vendor_is_float(from);
    size_t half = from == VENDOR_C64 ? 4 : 8;
    long double real = vendor_load_real(from, p);
    long double imag = wide ? vendor_load_real(from, (const char *)p + half) : 0;
    if (to == VENDOR_BOOL) {
        *(uint8_t *)q = real != 0 || imag != 0;
    } else if (to == VENDOR_C64 || to == VENDOR_C128) {
        vendor_store_real(to, real, q);
        vendor_store_real(to, imag, (char *)q + (to == VENDOR_C64 ? 4 : 8));
    } else if (vendor_is_float(to)) {
        vendor_store_real(to, real, q);
    } else {
        uint64_t whole = floats ? truncated(to, real) : vendor_load_whole(from, p);
        vendor_store_whole(to, whole, q);
    }
}

Status op_cast(const Tensor input, const DataType type, Tensor *output) {
    if (input == NULL) return STATUS_UNINITIALIZED_OBJECT;
    Kind from = vendor_kind(input->storage->dtype), to = vendor_kind(type);
    if (to == VENDOR_NONE) return STATUS_INVALID_ARGUMENT;
    if (from == VENDOR_NONE) return STATUS_TYPE_MISMATCH;
    Walk walk;
    Status status = vendor_walk(&walk, input->shape.ndim, input->shape.dims, 1, &input);
    if (status == STATUS_SUCCESS) status = vendor_like(input, type, output);
    if (status != STATUS_SUCCESS) return status;
    size_t item = vendor_itemsize(type);
    for (char *q = VENDOR_DATA(*output); walk.left > 0; vendor_next(&walk), q += item) {
        convert(from, VENDOR_DATA(input) + walk.at[0], to, q);
    }
    return STATUS_SUCCESS;
}

/* Where the chosen block of the input begins, in elements; -1 if an index is out of range. */
static int64_t chosen(const Tensor input, const Tensor index, int64_t at, int64_t count) {
    Kind kind = vendor_kind(index->storage->dtype);
    size_t item = vendor_itemsize(index->storage->dtype);
    int64_t found = 0;
    for (int64_t k = 0; k < count; k++) {
        uint64_t i = vendor_load_whole(kind, VENDOR_DATA(index) + (size_t)(at + k) * item);
        if (i >= (uint64_t)input->shape.dims[k]) return -1;
        found = found * input->shape.dims[k] + (int64_t)i;
    }
    return found;
}

Status op_gather(const Tensor input, const Tensor index, Tensor *output) {
    if (input == NULL || index == NULL) return STATUS_UNINITIALIZED_OBJECT;
    Kind kind = vendor_kind(index->storage->dtype);
    int64_t rank = index->shape.ndim, ndim = input->shape.ndim, dims[2 * VENDOR_MOST_AXES];
    if (kind <= VENDOR_BOOL || kind > VENDOR_U64 || rank == 0 || ndim == 0 ||
        rank > VENDOR_MOST_AXES || ndim > VENDOR_MOST_AXES) {
        return STATUS_INVALID_ARGUMENT;
    }
    int64_t count = rank == 1 ? 1 : index->shape.dims[rank - 1], n = 0, block = 1;
    if (count < 1 || count > ndim) return STATUS_INVALID_ARGUMENT;
    for (int64_t i = 0; i < (rank == 1 ? 1 : rank - 1); i++) dims[n++] = index->shape.dims[i];
    for (int64_t i = count; i < ndim; i++) block *= dims[n++] = input->shape.dims[i];
    Tensor rows = NULL, places = NULL;
    Status status = op_duplicate(input, &rows);
    if (status == STATUS_SUCCESS) status = op_duplicate(index, &places);
    if (status == STATUS_SUCCESS) status = vendor_new(input->storage->dtype, n, dims, output);
    size_t bytes = (size_t)block * vendor_itemsize(input->storage->dtype);
    for (int64_t i = 0; status == STATUS_SUCCESS && i < places->size / count; i++) {
        int64_t from = chosen(input, places, i * count, count);
        if (from < 0) {
            op_destroy(output);
            status = STATUS_INVALID_ARGUMENT;
            break;
        }
        memcpy(VENDOR_DATA(*output) + (size_t)i * bytes, VENDOR_DATA(rows) + (size_t)from * bytes,
               bytes);
    }
    op_destroy(&rows);
    op_destroy(&places);
    return status;
}

Status op_concat(const Tensor *input_lists, const int len, const int axis, Tensor *output) {
    if (len < 1) return STATUS_INVALID_ARGUMENT;
    for (int i = 0; i < len; i++) {
        if (input_lists[i] == NULL) return STATUS_UNINITIALIZED_OBJECT;
    }
    const Tensor first = input_lists[0];
    int64_t ndim = first->shape.ndim, along = axis < 0 ? axis + ndim : axis, total = 0;
    int64_t dims[VENDOR_MOST_AXES], outer = 1, inner = 1;
    if (ndim > VENDOR_MOST_AXES) return STATUS_INVALID_ARGUMENT;
    if (along < 0 || along >= ndim) return STATUS_OUT_OF_RANGE;
    for (int i = 0; i < len; i++) {
        const Tensor x = input_lists[i];
        if (x->shape.ndim != ndim ||
            vendor_kind(x->storage->dtype) != vendor_kind(first->storage->dtype)) {
            return STATUS_INVALID_ARGUMENT;
        }
        for (int64_t a = 0; a < ndim; a++) {
            if (a != along && x->shape.dims[a] != first->shape.dims[a]) {
                return STATUS_INVALID_ARGUMENT;
            }
        }
        total += x->shape.dims[along];
    }
    for (int64_t a = 0; a < ndim; a++) {
        dims[a] = a == along ? total : first->shape.dims[a];
        if (a < along) outer *= dims[a];
        if (a > along) inner *= dims[a];
    }
    Status status = vendor_new(first->storage->dtype, ndim, dims, output);
    size_t item = vendor_itemsize(first->storage->dtype), done = 0;
    for (int i = 0; status == STATUS_SUCCESS && i < len; i++) {
        Tensor rows = NULL;
        status = op_duplicate(input_lists[i], &rows);
        if (status != STATUS_SUCCESS) break;
        size_t bytes = (size_t)(input_lists[i]->shape.dims[along] * inner) * item;
        for (int64_t k = 0; k < outer; k++) {
            memcpy(VENDOR_DATA(*output) + (size_t)(k * total * inner) * item + done,
                   VENDOR_DATA(rows) + (size_t)k * bytes, bytes);
        }
        done += bytes;
        op_destroy(&rows);
    }
    return status;
}

typedef struct {
    long double value;
    int64_t index;
    bool descending;
} Ranked;

/* NaN counts as the largest; equal elements keep their order. */
static int compare(const void *p, const void *q) {
    const Ranked *a = p, *b = q;
    bool less = a->value < b->value || (b->value != b->value && a->value == a->value);
    bool more = a->value > b->value || (a->value != a->value && b->value == b->value);
    if (a->descending ? more : less) return -1;
    if (a->descending ? less : more) return 1;
    return a->index < b->index ? -1 : 1;
}

typedef struct {
    Tensor rows;
    int64_t along, count, inner, lines;
} Lines;

static Status lines_of(const Tensor input, const int axis, Lines *lines) {
    if (input == NULL) return STATUS_UNINITIALIZED_OBJECT;
    int64_t ndim = input->shape.ndim;
    lines->along = axis < 0 ? axis + ndim : axis;
    if (lines->along < 0 || lines->along >= ndim) return STATUS_OUT_OF_RANGE;
    lines->count = input->shape.dims[lines->along];
    lines->inner = 1;
    for (int64_t a = lines->along + 1; a < ndim; a++) lines->inner *= input->shape.dims[a];
    lines->lines = lines->count == 0 ? 0 : input->size / lines->count;
    return op_duplicate(input, &lines->rows);
}

/* Where the first element of a line is, in elements of the copy by rows. */
static int64_t start_of(const Lines *lines, int64_t line) {
    return line / lines->inner * lines->inner * lines->count + line % lines->inner;
}

static Ranked *ranked(const Lines *lines, int64_t line, bool descending, Ranked *some) {
    Kind kind = vendor_kind(lines->rows->storage->dtype);
    size_t item = vendor_itemsize(lines->rows->storage->dtype);
    for (int64_t i = 0; i < lines->count; i++) {
        size_t at = (size_t)(start_of(lines, line) + i * lines->inner);
        some[i].value = vendor_load_real(kind, VENDOR_DATA(lines->rows) + at * item);
        some[i].index = i;
        some[i].descending = descending;
    }
    qsort(some, (size_t)lines->count, sizeof *some, compare);
    return some;
}

Status op_argsort(const Tensor input, const int axis, const bool descending, Tensor *output,
                  Tensor *indices) {
    Lines lines;
    DataType int64 = {kInt, 64};
    Status status = lines_of(input, axis, &lines);
    if (status != STATUS_SUCCESS) return status;
    Ranked *some = malloc(sizeof *some * (size_t)(lines.count + 1));
    status = some == NULL ? STATUS_INTERNAL_ERROR : vendor_like(input, int64, indices);
    if (status == STATUS_SUCCESS) status = vendor_like(input, input->storage->dtype, output);
    size_t item = vendor_itemsize(input->storage->dtype);
    for (int64_t line = 0; status == STATUS_SUCCESS && line < lines.lines; line++) {
        ranked(&lines, line, descending, some);
        for (int64_t i = 0; i < lines.count; i++) {
            int64_t to = start_of(&lines, line) + i * lines.inner;
            int64_t from = start_of(&lines, line) + some[i].index * lines.inner;
            memcpy(VENDOR_DATA(*output) + (size_t)to * item,
                   VENDOR_DATA(lines.rows) + (size_t)from * item, item);
            ((int64_t *)(*indices)->storage->data)[to] = some[i].index;
        }
    }
    free(some);
    op_destroy(&lines.rows);
    return status;
}

Status op_argmax(const Tensor input, const int axis, const bool keepdim, const char *dtype,
                 Tensor *indices) {
    Lines lines;
    bool narrow = dtype != NULL && strcmp(dtype, "int32") == 0;
    DataType type = {kInt, narrow ? 32 : 64};
    int64_t dims[VENDOR_MOST_AXES], rank = 0;
    Status status = lines_of(input, axis, &lines);
    if (status != STATUS_SUCCESS) return status;
    for (int64_t a = 0; a < input->shape.ndim; a++) {
        if (a != lines.along || keepdim) dims[rank++] = a == lines.along ? 1 : input->shape.dims[a];
    }
    Ranked *some = malloc(sizeof *some * (size_t)(lines.count + 1));
    status = some == NULL ? STATUS_INTERNAL_ERROR : STATUS_SUCCESS;
    if (lines.count == 0) status = STATUS_INVALID_ARGUMENT;
    if (status == STATUS_SUCCESS) status = vendor_new(type, rank, dims, indices);
    for (int64_t line = 0; status == STATUS_SUCCESS && line < lines.lines; line++) {
        int64_t found = ranked(&lines, line, true, some)[0].index;
        if (narrow) ((int32_t *)(*indices)->storage->data)[line] = (int32_t)found;
        else ((int64_t *)(*indices)->storage->data)[line] = found;
    }
    free(some);
    op_destroy(&lines.rows);
    return status;
}

Status op_clip(const Tensor input, const void *low, const void *high, Tensor *output) {
    if (input == NULL) return STATUS_UNINITIALIZED_OBJECT;
    Kind kind = vendor_kind(input->storage->dtype);
    if (kind == VENDOR_NONE) return STATUS_INVALID_ARGUMENT;
    Walk walk;
    Status status = vendor_walk(&walk, input->shape.ndim, input->shape.dims, 1, &input);
    if (status == STATUS_SUCCESS) status = vendor_like(input, input->storage->dtype, output);
    if (status != STATUS_SUCCESS) return status;
    size_t item = vendor_itemsize(input->storage->dtype);
    for (char *to = VENDOR_DATA(*output); walk.left > 0; vendor_next(&walk), to += item) {
        const void *x = VENDOR_DATA(input) + walk.at[0];
        if (low != NULL && vendor_load_real(kind, x) < vendor_load_real(kind, low)) x = low;
        if (high != NULL && vendor_load_real(kind, x) > vendor_load_real(kind, high)) x = high;
        memcpy(to, x, item);
    }
    return STATUS_SUCCESS;
}

Status op_where(const Tensor condition, const Tensor x, const Tensor y, Tensor *output) {
    if (condition == NULL || x == NULL || y == NULL) return STATUS_UNINITIALIZED_OBJECT;
    DataType dtype = x->storage->dtype;
    if (vendor_kind(condition->storage->dtype) != VENDOR_BOOL ||
        vendor_kind(dtype) != vendor_kind(y->storage->dtype)) {
        return STATUS_INVALID_ARGUMENT;
    }
    int64_t ndim, dims[VENDOR_MOST_AXES];
    struct TensorImpl both = *x;
    if (vendor_broadcast(x, y, &ndim, dims) != STATUS_SUCCESS) return STATUS_INVALID_ARGUMENT;
    both.shape.ndim = ndim;
    both.shape.dims = dims;
    if (vendor_broadcast(&both, condition, &ndim, dims) != STATUS_SUCCESS) {
        return STATUS_INVALID_ARGUMENT;
    }
    Tensor all[3] = {condition, x, y};
    Walk walk;
    Status status = vendor_walk(&walk, ndim, dims, 3, all);
    if (status == STATUS_SUCCESS) status = vendor_new(dtype, ndim, dims, output);
    if (status != STATUS_SUCCESS) return status;
    size_t item = vendor_itemsize(dtype);
    for (char *to = VENDOR_DATA(*output); walk.left > 0; vendor_next(&walk), to += item) {
        bool first = VENDOR_DATA(condition)[walk.at[0]] != 0;
        memcpy(to, first ? VENDOR_DATA(x) + walk.at[1] : VENDOR_DATA(y) + walk.at[2], item);
    }
    return STATUS_SUCCESS;
}

static bool is_close(long double x, long double y, double rtol, double atol, bool equal_nan) {
    if (x != x || y != y) return equal_nan && x != x && y != y;
    if (isinf(x) || isinf(y)) return x == y;
    return fabsl(x - y) <= atol + rtol * fabsl(y);
}

Status op_allclose(const Tensor x, const Tensor y, const double rtol, const double atol,
                   const bool equal_nan, Tensor *z) {
    if (x == NULL || y == NULL) return STATUS_UNINITIALIZED_OBJECT;
    Kind kind = vendor_kind(x->storage->dtype);
    DataType boolean = {kBool, 8};
    if (kind == VENDOR_NONE || kind == VENDOR_BOOL || kind != vendor_kind(y->storage->dtype)) {
        return STATUS_TYPE_MISMATCH;
    }
    int64_t ndim, dims[VENDOR_MOST_AXES], one = 1;
    if (vendor_broadcast(x, y, &ndim, dims) != STATUS_SUCCESS) return STATUS_INVALID_ARGUMENT;
    Tensor both[2] = {x, y};
    Walk walk;
    Status status = vendor_walk(&walk, ndim, dims, 2, both);
    if (status == STATUS_SUCCESS) status = vendor_new(boolean, 1, &one, z);
    if (status != STATUS_SUCCESS) return status;
    bool close = true;
    for (; walk.left > 0; vendor_next(&walk)) {
        long double a = vendor_load_real(kind, VENDOR_DATA(x) + walk.at[0]);
        long double b = vendor_load_real(kind, VENDOR_DATA(y) + walk.at[1]);
        close = close && is_close(a, b, rtol, atol, equal_nan);
    }
    *VENDOR_DATA(*z) = close;
    return STATUS_SUCCESS;
}
