/* What the minimal set (Table 154) has besides: functions that make, move and choose elements. */

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "vendor.h"

/* The nth number of a seed, spread over 64 bits (splitmix64). */
static uint64_t noise(int64_t seed, int64_t n) {
    uint64_t x = ((uint64_t)seed + 1) * UINT64_C(0xd1342543de82ef95) +
                 ((uint64_t)n + 1) * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* The seed 0 asks for other numbers with each call. */
static int64_t seeded(int64_t seed) {
    static uint64_t calls;
    return seed != 0 ? seed : (int64_t)noise((int64_t)++calls, -1);
}

static double chance(int64_t seed, int64_t n) { return (double)(noise(seed, n) >> 11) * 0x1p-53; }

static bool is_real(DataType dtype) { return vendor_kind(dtype) == VENDOR_F32; }

Status op_rand_uniform(const DataType dtype, const Device device, const Shape shape,
                       const void *min, const void *max, const int64_t seed, Tensor *output) {
    Kind kind = vendor_kind(dtype);
    if (kind != VENDOR_BOOL && kind != VENDOR_I32 && kind != VENDOR_F32) {
        return STATUS_INVALID_ARGUMENT;
    }
    double low = kind == VENDOR_F32 ? -FLT_MAX : kind == VENDOR_I32 ? INT32_MIN : 0;
    double high = kind == VENDOR_F32 ? FLT_MAX : kind == VENDOR_I32 ? INT32_MAX : 1;
    if (min != NULL) low = (double)vendor_load_real(kind, min);
    if (max != NULL) high = (double)vendor_load_real(kind, max);
    if (!(low <= high) || isinf(low) || isinf(high)) return STATUS_INVALID_ARGUMENT;
    Status status = op_empty(dtype, device, shape, output);
    if (status != STATUS_SUCCESS) return status;
    size_t item = vendor_itemsize(dtype);
    int64_t own = seeded(seed);
    for (int64_t i = 0; i < (*output)->size; i++) {
        void *to = VENDOR_DATA(*output) + (size_t)i * item;
        if (kind == VENDOR_F32) {
            float x = (float)(low + chance(own, i) * (high - low));
            *(float *)to = x >= (float)high && low < high ? nextafterf((float)high, -INFINITY) : x;
        } else {
            double x = floor(low + chance(own, i) * (high - low + 1));
            vendor_store_whole(kind, (uint64_t)(int64_t)(x > high ? high : x), to);
        }
    }
    return STATUS_SUCCESS;
}

Status op_rand_normal(const DataType dtype, const Device device, const Shape shape,
                      const void *mean, const void *std, const int64_t seed, Tensor *output) {
    if (!is_real(dtype)) return STATUS_INVALID_ARGUMENT;
    double centre = mean == NULL ? 0 : *(const float *)mean;
    double width = std == NULL ? 1 : *(const float *)std;
    if (!isfinite(centre) || !isfinite(width) || width < 0) return STATUS_INVALID_ARGUMENT;
    Status status = op_empty(dtype, device, shape, output);
    if (status != STATUS_SUCCESS) return status;
    int64_t own = seeded(seed);
    for (int64_t i = 0; i < (*output)->size; i++) { /* Box and Muller */
        double radius = sqrt(-2 * log(1 - chance(own, 2 * i)));
        double x = centre + width * radius * cos(6.283185307179586 * chance(own, 2 * i + 1));
        x = x > FLT_MAX ? FLT_MAX : x < -FLT_MAX ? -FLT_MAX : x;
        ((float *)VENDOR_DATA(*output))[i] = (float)x;
    }
    return STATUS_SUCCESS;
}

/* Draws from one row of weights, and marks what was drawn if it may not be drawn again. */
static void draw(float *weights, int64_t count, int64_t times, bool again, int64_t seed,
                 int64_t *to) {
    for (int64_t k = 0; k < times; k++) {
        double total = 0, sum = 0;
        for (int64_t i = 0; i < count; i++) total += weights[i];
        double limit = chance(seed, k) * total;
        for (int64_t i = 0; i < count; i++) {
            if (weights[i] > 0) to[k] = i; /* the last that is possible, should rounding pass it */
            sum += weights[i];
            if (weights[i] > 0 && sum > limit) break;
        }
        if (!again) weights[to[k]] = 0;
    }
}

Status op_multinomial(const Tensor input, const int64_t num_samples, const bool replacement,
                      Tensor *output, const int64_t seed) {
    if (input == NULL) return STATUS_UNINITIALIZED_OBJECT;
    int64_t ndim = input->shape.ndim, rows = ndim == 2 ? input->shape.dims[0] : 1;
    if (!is_real(input->storage->dtype) || ndim < 1 || ndim > 2 || num_samples < 1) {
        return STATUS_INVALID_ARGUMENT;
    }
    int64_t count = input->shape.dims[ndim - 1], dims[2] = {rows, num_samples};
    DataType int64 = {kInt, 64};
    Tensor weights = NULL;
    Status status = op_duplicate(input, &weights);
    if (status != STATUS_SUCCESS) return status;
    float *all = (float *)VENDOR_DATA(weights);
    for (int64_t r = 0; r < rows; r++) {
        int64_t possible = 0;
        for (int64_t i = 0; i < count; i++) {
            float x = all[r * count + i];
            if (!(x >= 0) || isinf(x)) status = STATUS_INVALID_ARGUMENT;
            possible += x > 0;
        }
        if (possible < (replacement ? 1 : num_samples)) status = STATUS_INVALID_ARGUMENT;
    }
    if (status == STATUS_SUCCESS) status = vendor_new(int64, ndim, dims + 2 - ndim, output);
    int64_t own = seeded(seed);
    for (int64_t r = 0; status == STATUS_SUCCESS && r < rows; r++) {
        draw(all + r * count, count, num_samples, replacement, own + r * 7919,
             (int64_t *)VENDOR_DATA(*output) + r * num_samples);
    }
    op_destroy(&weights);
    return status;
}

Status op_randperm(const DataType dtype, const Device device, const int len, Tensor *output,
                   const int64_t seed) {
    Kind kind = vendor_kind(dtype);
    if (len < 1 || (kind != VENDOR_I32 && kind != VENDOR_I64 && kind != VENDOR_F32)) {
        return STATUS_INVALID_ARGUMENT;
    }
    int64_t dims[1] = {len};
    Shape shape = {.ndim = 1, .dims = dims, .layout = {.type = kDense}};
    Status status = op_empty(dtype, device, shape, output);
    if (status != STATUS_SUCCESS) return status;
    int32_t *order = malloc(sizeof *order * (size_t)len);
    if (order == NULL) {
        op_destroy(output);
        return STATUS_ALLOC_FAILED;
    }
    int64_t own = seeded(seed);
    for (int i = 0; i < len; i++) {
        int other = (int)(noise(own, i) % (uint64_t)(i + 1));
        order[i] = order[other];
        order[other] = i;
    }
    for (int i = 0; i < len; i++) {
        void *to = VENDOR_DATA(*output) + (size_t)i * vendor_itemsize(dtype);
        if (kind == VENDOR_F32) *(float *)to = (float)order[i];
        else vendor_store_whole(kind, (uint64_t)order[i], to);
    }
    free(order);
    return STATUS_SUCCESS;
}

Status op_linspace(const DataType dtype, const Device device, const void *start, const void *stop,
                   const int64_t num, Tensor *output) {
    if (!is_real(dtype) || start == NULL || stop == NULL || num < 1) return STATUS_INVALID_ARGUMENT;
    int64_t dims[1] = {num};
    Shape shape = {.ndim = 1, .dims = dims, .layout = {.type = kDense}};
    Status status = op_empty(dtype, device, shape, output);
    if (status != STATUS_SUCCESS) return status;
    double from = *(const float *)start, to = *(const float *)stop;
    for (int64_t i = 0; i < num; i++) {
        double at = num == 1 ? 0 : (double)i / (double)(num - 1);
        ((float *)VENDOR_DATA(*output))[i] = (float)(i == 0 ? from : from * (1 - at) + to * at);
    }
    return STATUS_SUCCESS;
}

/* A tensor of `dims` whose element at an index is the input's at from[axis][index[axis]], one
 * table after the other; where a table says -1, it is `fill`. */
static Status pick(const Tensor input, const int64_t *dims, const int64_t *from, const void *fill,
                   Tensor *output) {
    int64_t ndim = input->shape.ndim, strides[VENDOR_MOST_AXES];
    Status status = vendor_new(input->storage->dtype, ndim, dims, output);
    if (status != STATUS_SUCCESS) return status;
    vendor_strides(input, strides);
    Walk walk;
    vendor_walk(&walk, ndim, dims, 0, NULL);
    size_t item = vendor_itemsize(input->storage->dtype);
    for (char *to = VENDOR_DATA(*output); walk.left > 0; vendor_next(&walk), to += item) {
        const int64_t *table = from;
        int64_t at = input->offset;
        bool inside = true;
        for (int64_t a = 0; a < ndim; table += dims[a++]) {
            int64_t source = table[walk.index[a]];
            inside = inside && source >= 0;
            at += source * strides[a];
        }
        if (inside) memcpy(to, VENDOR_DATA(input) + (size_t)at * item, item);
        else if (fill != NULL) memcpy(to, fill, item);
        else memset(to, 0, item);
    }
    return STATUS_SUCCESS;
}

static int64_t *tables(int64_t ndim, const int64_t *dims) {
    int64_t all = 1;
    for (int64_t a = 0; a < ndim; a++) all += dims[a];
    return malloc(sizeof(int64_t) * (size_t)all);
}

static int64_t modulo(int64_t x, int64_t n) { return n == 0 ? 0 : (x % n + n) % n; }

Status op_split(const Tensor input, const int *split_sizes, const int nsplit, const int axis,
                Tensor *output_lists) {
    if (input == NULL) return STATUS_UNINITIALIZED_OBJECT;
    int64_t ndim = input->shape.ndim, along = axis < 0 ? axis + ndim : axis, total = 0;
    if (along < 0 || along >= ndim) return STATUS_OUT_OF_RANGE;
    int64_t whole = input->shape.dims[along], dims[VENDOR_MOST_AXES];
    if (nsplit < 1 || (split_sizes == NULL && whole % nsplit != 0)) return STATUS_INVALID_ARGUMENT;
    for (int i = 0; i < nsplit && split_sizes != NULL; i++) {
        if (split_sizes[i] < 1) return STATUS_INVALID_ARGUMENT;
        total += split_sizes[i];
    }
    if (split_sizes != NULL && total != whole) return STATUS_INVALID_ARGUMENT;
    Status status = STATUS_SUCCESS;
    int64_t begin = 0;
    int done = 0;
    for (; done < nsplit && status == STATUS_SUCCESS; done++) {
        memcpy(dims, input->shape.dims, sizeof(int64_t) * (size_t)ndim);
        dims[along] = split_sizes == NULL ? whole / nsplit : split_sizes[done];
        int64_t *from = tables(ndim, dims), *to = from;
        if (from == NULL) return STATUS_ALLOC_FAILED;
        for (int64_t a = 0; a < ndim; a++) {
            for (int64_t i = 0; i < dims[a]; i++) *to++ = a == along ? begin + i : i;
        }
        status = pick(input, dims, from, NULL, &output_lists[done]);
        begin += dims[along];
        free(from);
    }
    return status;
}

Status op_tile(const Tensor input, const int *repeats, Tensor *output) {
    if (input == NULL) return STATUS_UNINITIALIZED_OBJECT;
    int64_t ndim = input->shape.ndim, dims[VENDOR_MOST_AXES] = {0};
    for (int64_t a = 0; a < ndim; a++) {
        if (repeats == NULL || repeats[a] < 0) return STATUS_INVALID_ARGUMENT;
        dims[a] = input->shape.dims[a] * repeats[a];
    }
    int64_t *from = tables(ndim, dims), *to = from;
    if (from == NULL) return STATUS_ALLOC_FAILED;
    for (int64_t a = 0; a < ndim; a++) {
        for (int64_t i = 0; i < dims[a]; i++) *to++ = i % input->shape.dims[a];
    }
    Status status = pick(input, dims, from, NULL, output);
    free(from);
    return status;
}

/* Where the padding comes from: nowhere, around the axis, or back from its end. */
static int64_t padded(int64_t i, int64_t n, PadMode mode) {
    if (i >= 0 && i < n) return i;
    if (mode == PAD_CONST) return -1;
    if (mode == PAD_PERIOD) return modulo(i, n);
    int64_t j = modulo(i, 2 * n);
    return j < n ? j : 2 * n - 1 - j;
}

Status op_pad(const Tensor input, const int *pad_width, const void *pad_value,
              const PadMode pad_mode, Tensor *output) {
    if (input == NULL) return STATUS_UNINITIALIZED_OBJECT;
    int64_t ndim = input->shape.ndim, dims[VENDOR_MOST_AXES] = {0};
    if ((int)pad_mode < PAD_CONST || pad_mode > PAD_MIRROR) return STATUS_INVALID_ARGUMENT;
    for (int64_t a = 0; a < ndim; a++) {
        if (pad_width == NULL || pad_width[2 * a] < 0 || pad_width[2 * a + 1] < 0) {
            return STATUS_INVALID_ARGUMENT;
        }
        dims[a] = input->shape.dims[a] + pad_width[2 * a] + pad_width[2 * a + 1];
        if (input->shape.dims[a] == 0 && dims[a] > 0 && pad_mode != PAD_CONST) {
            return STATUS_INVALID_ARGUMENT;
        }
    }
    int64_t *from = tables(ndim, dims), *to = from;
    if (from == NULL) return STATUS_ALLOC_FAILED;
    for (int64_t a = 0; a < ndim; a++) {
        for (int64_t i = 0; i < dims[a]; i++) {
            *to++ = padded(i - pad_width[2 * a], input->shape.dims[a], pad_mode);
        }
    }
    Status status = pick(input, dims, from, pad_value, output);
    free(from);
    return status;
}

Status op_flip(const Tensor input, const int *axis, Tensor *output, const int axis_len) {
    if (input == NULL) return STATUS_UNINITIALIZED_OBJECT;
    int64_t ndim = input->shape.ndim;
    bool turned[VENDOR_MOST_AXES] = {false};
    for (int i = 0; i < axis_len; i++) {
        int64_t a = axis[i] < 0 ? axis[i] + ndim : axis[i];
        if (a < 0 || a >= ndim) return STATUS_AXIS_ARGUMENT;
        if (turned[a]) return STATUS_INVALID_ARGUMENT;
        turned[a] = true;
    }
    int64_t *from = tables(ndim, input->shape.dims), *to = from;
    if (from == NULL) return STATUS_ALLOC_FAILED;
    for (int64_t a = 0; a < ndim; a++) {
        int64_t n = input->shape.dims[a];
        for (int64_t i = 0; i < n; i++) *to++ = turned[a] ? n - 1 - i : i;
    }
    Status status = pick(input, input->shape.dims, from, NULL, output);
    free(from);
    return status;
}

Status op_roll(const Tensor input, const int shifts_len, const int64_t *shifts, const int64_t *axis,
               Tensor *output) {
    if (input == NULL) return STATUS_UNINITIALIZED_OBJECT;
    int64_t ndim = input->shape.ndim, by[VENDOR_MOST_AXES] = {0};
    if (shifts_len < 1 || shifts == NULL || (axis == NULL && shifts_len != 1)) {
        return STATUS_INVALID_ARGUMENT;
    }
    for (int i = 0; i < shifts_len && axis != NULL; i++) {
        int64_t a = axis[i] < 0 ? axis[i] + ndim : axis[i];
        if (a < 0 || a >= ndim) return STATUS_INVALID_ARGUMENT;
        by[a] = modulo(by[a] + modulo(shifts[i], input->shape.dims[a]), input->shape.dims[a]);
    }
    if (axis == NULL) { /* as one row, in row-major order */
        Tensor rows = NULL;
        Status status = op_duplicate(input, &rows);
        if (status == STATUS_SUCCESS) status = vendor_like(input, input->storage->dtype, output);
        size_t item = vendor_itemsize(input->storage->dtype);
        for (int64_t i = 0; status == STATUS_SUCCESS && i < input->size; i++) {
            int64_t at = modulo(i - modulo(shifts[0], input->size), input->size);
            memcpy(VENDOR_DATA(*output) + (size_t)i * item, VENDOR_DATA(rows) + (size_t)at * item,
                   item);
        }
        op_destroy(&rows);
        return status;
    }
    int64_t *from = tables(ndim, input->shape.dims), *to = from;
    if (from == NULL) return STATUS_ALLOC_FAILED;
    for (int64_t a = 0; a < ndim; a++) {
        int64_t n = input->shape.dims[a];
        for (int64_t i = 0; i < n; i++) *to++ = modulo(i - by[a], n);
    }
    Status status = pick(input, input->shape.dims, from, NULL, output);
    free(from);
    return status;
}

Status op_masked_select(const Tensor input, const Tensor mask, Tensor *output) {
    if (input == NULL || mask == NULL) return STATUS_UNINITIALIZED_OBJECT;
    int64_t ndim, dims[VENDOR_MOST_AXES], count = 0;
    if (vendor_kind(mask->storage->dtype) != VENDOR_BOOL ||
        vendor_broadcast(input, mask, &ndim, dims) != STATUS_SUCCESS ||
        ndim != input->shape.ndim ||
        memcmp(dims, input->shape.dims, sizeof(int64_t) * (size_t)ndim) != 0) {
        return STATUS_INVALID_ARGUMENT;
    }
    Tensor both[2] = {input, mask};
    Walk walk;
    for (vendor_walk(&walk, ndim, dims, 2, both); walk.left > 0; vendor_next(&walk)) {
        count += VENDOR_DATA(mask)[walk.at[1]] != 0;
    }
    Status status = vendor_new(input->storage->dtype, 1, &count, output);
    if (status != STATUS_SUCCESS) return status;
    size_t item = vendor_itemsize(input->storage->dtype);
    char *to = VENDOR_DATA(*output);
    for (vendor_walk(&walk, ndim, dims, 2, both); walk.left > 0; vendor_next(&walk)) {
        if (VENDOR_DATA(mask)[walk.at[1]] == 0) continue;
        memcpy(to, VENDOR_DATA(input) + walk.at[0], item);
        to += item;
    }
    return STATUS_SUCCESS;
}

Status op_cumsum(const Tensor input, const int axis, Tensor *output, const DataType *dtype) {
    if (input == NULL) return STATUS_UNINITIALIZED_OBJECT;
    DataType type = dtype == NULL ? input->storage->dtype : *dtype;
    Kind kind = vendor_kind(type);
    int64_t ndim = input->shape.ndim, along = axis, inner = 1;
    if (kind == VENDOR_BOOL || kind > VENDOR_F16 ||
        vendor_kind(input->storage->dtype) == VENDOR_BOOL) {
        return STATUS_TYPE_MISMATCH;
    }
    if (axis != -1 && (along < 0 || along >= ndim)) return STATUS_OUT_OF_RANGE;
    Tensor rows = NULL;
    Status status = op_cast(input, type, &rows);
    if (status != STATUS_SUCCESS) return status;
    int64_t count = axis == -1 ? rows->size : rows->shape.dims[along];
    for (int64_t a = along + 1; a < ndim && axis != -1; a++) inner *= rows->shape.dims[a];
    status = axis == -1 ? vendor_new(type, 1, &count, output)
                        : vendor_new(type, ndim, rows->shape.dims, output);
    size_t item = vendor_itemsize(type);
    int64_t lines = count == 0 || status != STATUS_SUCCESS ? 0 : rows->size / count;
    for (int64_t line = 0; line < lines; line++) {
        long double real = 0;
        uint64_t whole = 0;
        for (int64_t i = 0; i < count; i++) {
            size_t at = (size_t)(line / inner * inner * count + line % inner + i * inner) * item;
            if (vendor_is_float(kind)) {
                real += vendor_load_real(kind, VENDOR_DATA(rows) + at);
                vendor_store_real(kind, real, VENDOR_DATA(*output) + at);
            } else {
                whole += vendor_load_whole(kind, VENDOR_DATA(rows) + at);
                vendor_store_whole(kind, whole, VENDOR_DATA(*output) + at);
            }
        }
    }
    op_destroy(&rows);
    return status;
}

/* The first k of the sorted elements along an axis, and their indices. */
Status op_topk(const Tensor input, const int k, const int axis, const bool largest,
               const bool sorted, Tensor *output, Tensor *indices) {
    (void)sorted;
    if (input == NULL) return STATUS_UNINITIALIZED_OBJECT;
    int64_t ndim = input->shape.ndim, along = axis < 0 ? axis + ndim : axis;
    if (along < 0 || along >= ndim || k < 1 || k > input->shape.dims[along] ||
        vendor_kind(input->storage->dtype) == VENDOR_BOOL) {
        return STATUS_INVALID_ARGUMENT;
    }
    Tensor values = NULL, at = NULL;
    int64_t dims[VENDOR_MOST_AXES];
    memcpy(dims, input->shape.dims, sizeof(int64_t) * (size_t)ndim);
    dims[along] = k;
    int64_t *from = tables(ndim, dims), *to = from;
    if (from == NULL) return STATUS_ALLOC_FAILED;
    for (int64_t a = 0; a < ndim; a++) {
        for (int64_t i = 0; i < dims[a]; i++) *to++ = i;
    }
    Status status = op_argsort(input, (int)along, largest, &values, &at);
    if (status == STATUS_SUCCESS) status = pick(values, dims, from, NULL, output);
    if (status == STATUS_SUCCESS) status = pick(at, dims, from, NULL, indices);
    free(from);
    op_destroy(&values);
    op_destroy(&at);
    return status;
}

/* Whether x is found before y: the smaller one, and a NaN before all. */
static bool precedes(long double x, long double y) { return y == y && (x != x || x < y); }

Status op_argmin(const Tensor input, const int axis, const bool keepdim, const char *dtype,
                 Tensor *indices) {
    if (input == NULL) return STATUS_UNINITIALIZED_OBJECT;
    bool narrow = dtype != NULL && strcmp(dtype, "int32") == 0;
    DataType type = {kInt, narrow ? 32 : 64};
    int64_t ndim = input->shape.ndim, along = axis < 0 ? axis + ndim : axis, dims[VENDOR_MOST_AXES];
    int64_t strides[VENDOR_MOST_AXES], rank = 0;
    if (along < 0 || along >= ndim) return STATUS_OUT_OF_RANGE;
    if (input->shape.dims[along] == 0) return STATUS_INVALID_ARGUMENT;
    for (int64_t a = 0; a < ndim; a++) {
        if (a != along || keepdim) dims[rank++] = a == along ? 1 : input->shape.dims[a];
    }
    Status status = vendor_new(type, rank, dims, indices);
    if (status != STATUS_SUCCESS) return status;
    vendor_strides(input, strides);
    Kind kind = vendor_kind(input->storage->dtype);
    size_t item = vendor_itemsize(input->storage->dtype);
    for (int64_t line = 0; line < (*indices)->size; line++) {
        int64_t base = input->offset, rest = line, best = 0;
        for (int64_t a = ndim - 1; a >= 0; a--) {
            if (a == along) continue;
            base += rest % input->shape.dims[a] * strides[a];
            rest /= input->shape.dims[a];
        }
        const char *first = VENDOR_DATA(input) + (size_t)base * item;
        size_t step = (size_t)strides[along] * item;
        for (int64_t i = 1; i < input->shape.dims[along]; i++) {
            if (precedes(vendor_load_real(kind, first + (size_t)i * step),
                         vendor_load_real(kind, first + (size_t)best * step))) {
                best = i;
            }
        }
        void *to = VENDOR_DATA(*indices) + (size_t)line * vendor_itemsize(type);
        vendor_store_whole(vendor_kind(type), (uint64_t)best, to);
    }
    return STATUS_SUCCESS;
}

Status op_nonzero(const Tensor input, const bool as_tuple, Tensor *indices) {
    if (input == NULL) return STATUS_UNINITIALIZED_OBJECT;
    Kind kind = vendor_kind(input->storage->dtype);
    DataType int64 = {kInt, 64};
    int64_t ndim = input->shape.ndim, dims[2] = {0, ndim};
    Walk walk;
    for (vendor_walk(&walk, ndim, input->shape.dims, 1, &input); walk.left > 0; vendor_next(&walk)) {
        dims[0] += vendor_load_real(kind, VENDOR_DATA(input) + walk.at[0]) != 0;
    }
    if (dims[0] == 0) return STATUS_OUT_OF_RANGE;
    if (ndim == 0) return STATUS_INVALID_ARGUMENT;
    Status status = STATUS_SUCCESS;
    int64_t made = as_tuple ? ndim : 1, at = 0;
    for (int64_t a = 0; a < made && status == STATUS_SUCCESS; a++) {
        status = vendor_new(int64, as_tuple ? 1 : 2, dims, &indices[a]);
    }
    if (status != STATUS_SUCCESS) return status;
    for (vendor_walk(&walk, ndim, input->shape.dims, 1, &input); walk.left > 0; vendor_next(&walk)) {
        if (vendor_load_real(kind, VENDOR_DATA(input) + walk.at[0]) == 0) continue;
        for (int64_t a = 0; a < ndim; a++) {
            int64_t *to = (int64_t *)VENDOR_DATA(indices[as_tuple ? a : 0]);
            to[as_tuple ? at : at * ndim + a] = walk.index[a];
        }
        at++;
    }
    return STATUS_SUCCESS;
}
