/* SPDX-License-Identifier: Apache-2.0 */
/* The part of cuBLASLt that matrix products with a bias and an activation behind them need. */
#include "engine/vgpu/blas/gemm.h"

#include <stdlib.h>
#include <string.h>

/* cublasLtMatmulDescAttributes_t and cublasLtMatrixLayoutAttribute_t */
enum
{
  DESC_COMPUTE = 0,
  DESC_SCALE = 1,
  DESC_POINTER_MODE = 2,
  DESC_OP_A = 3,
  DESC_OP_B = 4,
  DESC_EPILOGUE = 7,
  DESC_BIAS = 8,
  DESC_AUX = 11,
  DESC_AUX_LEADING = 12,
  DESC_BIAS_TYPE = 26,
  LAYOUT_TYPE = 0,
  LAYOUT_ORDER = 1,
  LAYOUT_ROWS = 2,
  LAYOUT_COLUMNS = 3,
  LAYOUT_LEADING = 4,
  LAYOUT_COUNT = 5,
  LAYOUT_STRIDE = 6
};

/* Both must fit the space that cublasLt.h keeps for them: 64 and 256 bytes. */
typedef struct
{
  int32_t type, order, count, pad;
  uint64_t rows, columns;
  int64_t leading, stride;
} Layout;

typedef struct
{
  int32_t compute, scale, pointer_mode, op_a, op_b, bias_type;
  uint32_t epilogue, pad;
  const void *bias;
  void *aux;
  int64_t aux_leading;
} Description;

typedef struct
{
  uint64_t algorithm[8];
  size_t workspace_bytes;
  int state;
  float waves;
  int reserved[4];
} Heuristic;

typedef struct
{
  int attribute;
  size_t offset, bytes;
} Member;

#define MEMBER(attribute, type, member)                                                            \
  {                                                                                                \
    attribute, offsetof (type, member), sizeof ((type *) 0)->member                                \
  }

static const Member layout_members[] = {
    MEMBER (LAYOUT_TYPE, Layout, type),       MEMBER (LAYOUT_ORDER, Layout, order),
    MEMBER (LAYOUT_ROWS, Layout, rows),       MEMBER (LAYOUT_COLUMNS, Layout, columns),
    MEMBER (LAYOUT_LEADING, Layout, leading), MEMBER (LAYOUT_COUNT, Layout, count),
    MEMBER (LAYOUT_STRIDE, Layout, stride),
};

static const Member description_members[] = {
    MEMBER (DESC_COMPUTE, Description, compute),
    MEMBER (DESC_SCALE, Description, scale),
    MEMBER (DESC_POINTER_MODE, Description, pointer_mode),
    MEMBER (DESC_OP_A, Description, op_a),
    MEMBER (DESC_OP_B, Description, op_b),
    MEMBER (DESC_EPILOGUE, Description, epilogue),
    MEMBER (DESC_BIAS, Description, bias),
    MEMBER (DESC_AUX, Description, aux),
    MEMBER (DESC_AUX_LEADING, Description, aux_leading),
    MEMBER (DESC_BIAS_TYPE, Description, bias_type),
};

static int
set (void *object, const Member *members, size_t count, int attribute, const void *from,
     size_t bytes)
{
  for (size_t i = 0; object != NULL && from != NULL && i < count; i++)
    if (members[i].attribute == attribute)
      {
        if (members[i].bytes != bytes)
          return BLAS_INVALID_VALUE;
        memcpy ((char *) object + members[i].offset, from, bytes);
        return BLAS_SUCCESS;
      }
  return object == NULL || from == NULL ? BLAS_INVALID_VALUE : BLAS_NOT_SUPPORTED;
}

static int
get (const void *object, const Member *members, size_t count, int attribute, void *to, size_t bytes,
     size_t *written)
{
  for (size_t i = 0; object != NULL && i < count; i++)
    if (members[i].attribute == attribute)
      {
        if (written != NULL)
          *written = members[i].bytes;
        if (to == NULL || bytes < members[i].bytes)
          return bytes == 0 ? BLAS_SUCCESS : BLAS_INVALID_VALUE;
        memcpy (to, (const char *) object + members[i].offset, members[i].bytes);
        return BLAS_SUCCESS;
      }
  return BLAS_INVALID_VALUE;
}

#define COUNT(array) (sizeof (array) / sizeof (array)[0])

BLAS_ENTRY (int, cublasLtCreate, (BlasHandle * handle)) { return cublasCreate_v2 (handle); }

BLAS_ENTRY (int, cublasLtDestroy, (BlasHandle handle)) { return cublasDestroy_v2 (handle); }

BLAS_ENTRY (size_t, cublasLtGetVersion, (void) ) { return 130000; }

BLAS_ENTRY (int, cublasLtMatrixLayoutInit_internal,
            (Layout * layout, size_t bytes, int type, uint64_t rows, uint64_t columns,
             int64_t leading))
{
  if (layout == NULL || bytes < sizeof *layout)
    return BLAS_INVALID_VALUE;
  *layout =
      (Layout) {.type = type, .count = 1, .rows = rows, .columns = columns, .leading = leading};
  return BLAS_SUCCESS;
}

BLAS_ENTRY (int, cublasLtMatrixLayoutCreate,
            (Layout * *layout, int type, uint64_t rows, uint64_t columns, int64_t leading))
{
  *layout = calloc (1, sizeof **layout);
  return cublasLtMatrixLayoutInit_internal (*layout, sizeof **layout, type, rows, columns, leading);
}

BLAS_ENTRY (int, cublasLtMatrixLayoutDestroy, (Layout * layout))
{
  free (layout);
  return BLAS_SUCCESS;
}

BLAS_ENTRY (int, cublasLtMatrixLayoutSetAttribute,
            (Layout * layout, int attribute, const void *from, size_t bytes))
{
  return set (layout, layout_members, COUNT (layout_members), attribute, from, bytes);
}

BLAS_ENTRY (int, cublasLtMatrixLayoutGetAttribute,
            (const Layout *layout, int attribute, void *to, size_t bytes, size_t *written))
{
  return get (layout, layout_members, COUNT (layout_members), attribute, to, bytes, written);
}

BLAS_ENTRY (int, cublasLtMatmulDescInit_internal,
            (Description * description, size_t bytes, int compute, int scale))
{
  if (description == NULL || bytes < sizeof *description)
    return BLAS_INVALID_VALUE;
  *description = (Description) {.compute = compute, .scale = scale, .epilogue = 1, .bias_type = -1};
  return BLAS_SUCCESS;
}

BLAS_ENTRY (int, cublasLtMatmulDescCreate, (Description * *description, int compute, int scale))
{
  *description = calloc (1, sizeof **description);
  return cublasLtMatmulDescInit_internal (*description, sizeof **description, compute, scale);
}

BLAS_ENTRY (int, cublasLtMatmulDescDestroy, (Description * description))
{
  free (description);
  return BLAS_SUCCESS;
}

BLAS_ENTRY (int, cublasLtMatmulDescSetAttribute,
            (Description * description, int attribute, const void *from, size_t bytes))
{
  return set (description, description_members, COUNT (description_members), attribute, from,
              bytes);
}

BLAS_ENTRY (int, cublasLtMatmulDescGetAttribute,
            (const Description *description, int attribute, void *to, size_t bytes,
             size_t *written))
{
  return get (description, description_members, COUNT (description_members), attribute, to, bytes,
              written);
}

/* What an algorithm may use is of no consequence: there is one, and it uses nothing. */
typedef struct
{
  uint64_t nothing[8];
} Preference;

BLAS_ENTRY (int, cublasLtMatmulPreferenceInit_internal, (Preference * preference, size_t bytes))
{
  if (preference == NULL || bytes < sizeof *preference)
    return BLAS_INVALID_VALUE;
  *preference = (Preference) {{0}};
  return BLAS_SUCCESS;
}

BLAS_ENTRY (int, cublasLtMatmulPreferenceCreate, (Preference * *preference))
{
  *preference = calloc (1, sizeof **preference);
  return *preference != NULL ? BLAS_SUCCESS : 3;
}

BLAS_ENTRY (int, cublasLtMatmulPreferenceDestroy, (Preference * preference))
{
  free (preference);
  return BLAS_SUCCESS;
}

BLAS_ENTRY (int, cublasLtMatmulPreferenceSetAttribute,
            (Preference * preference, int attribute, const void *from, size_t bytes))
{
  (void) attribute;
  (void) bytes;
  return preference != NULL && from != NULL ? BLAS_SUCCESS : BLAS_INVALID_VALUE;
}

static void
set_matrix (BlasMatrix *matrix, const void *data, const Layout *layout, int operation)
{
  *matrix = (BlasMatrix) {.first = data,
                          .stride = layout->stride,
                          .type = (BlasType) layout->type,
                          .operation = operation,
                          .leading = layout->leading,
                          .by_rows = layout->order == 1};
}

static bool
describe (const Description *description, const Layout *a, const Layout *b, const Layout *c,
          const Layout *d, BlasGemm *gemm)
{
  const uint32_t known = BLAS_RELU | BLAS_BIAS | BLAS_GELU | BLAS_AUX | 1;
  bool orders = (a->order | b->order | c->order | d->order) <= 1;
  if (!orders || (description->epilogue & ~known) != 0
      || ((description->epilogue & BLAS_AUX) && !(description->epilogue & BLAS_GELU)))
    return false;
  *gemm = (BlasGemm) {.name = "cublasLtMatmul",
                      .m = (int64_t) d->rows,
                      .n = (int64_t) d->columns,
                      .k = (int64_t) (description->op_a == 0 ? a->columns : a->rows),
                      .count = d->count,
                      .epilogue = description->epilogue & ~1u,
                      .bias = description->bias,
                      .aux = description->aux,
                      .aux_leading = description->aux_leading};
  gemm->bias_type =
      description->bias_type >= 0 ? (BlasType) description->bias_type : (BlasType) d->type;
  return blas_type_bytes ((BlasType) a->type) > 0 && blas_type_bytes ((BlasType) b->type) > 0
         && blas_type_bytes ((BlasType) d->type) > 0;
}

BLAS_ENTRY (int, cublasLtMatmulAlgoGetHeuristic,
            (BlasHandle handle, const Description *description, const Layout *a, const Layout *b,
             const Layout *c, const Layout *d, const Preference *preference, int wanted,
             Heuristic *results, int *count))
{
  BlasGemm gemm;
  (void) preference;
  if (handle == NULL || description == NULL || a == NULL || b == NULL || c == NULL || d == NULL
      || wanted < 1 || results == NULL || count == NULL)
    return BLAS_INVALID_VALUE;
  *count = describe (description, a, b, c, d, &gemm) ? 1 : 0;
  results[0] = (Heuristic) {.state = *count > 0 ? BLAS_SUCCESS : BLAS_NOT_SUPPORTED, .waves = 1};
  return *count > 0 ? BLAS_SUCCESS : BLAS_NOT_SUPPORTED;
}

BLAS_ENTRY (int, cublasLtMatmul,
            (BlasHandle handle, const Description *description, const void *alpha, const void *a,
             const Layout *a_layout, const void *b, const Layout *b_layout, const void *beta,
             const void *c, const Layout *c_layout, void *d, const Layout *d_layout,
             const void *algorithm, void *workspace, size_t workspace_bytes, CUstream stream))
{
  BlasGemm gemm;
  (void) algorithm;
  (void) workspace;
  (void) workspace_bytes;
  if (handle == NULL || description == NULL || alpha == NULL || beta == NULL || a_layout == NULL
      || b_layout == NULL || c_layout == NULL || d_layout == NULL)
    return handle == NULL ? BLAS_NOT_INITIALIZED : BLAS_INVALID_VALUE;
  if (!describe (description, a_layout, b_layout, c_layout, d_layout, &gemm))
    return BLAS_NOT_SUPPORTED;
  set_matrix (&gemm.a, a, a_layout, description->op_a);
  set_matrix (&gemm.b, b, b_layout, description->op_b);
  set_matrix (&gemm.c, c != NULL ? c : d, c_layout, 0);
  set_matrix (&gemm.d, d, d_layout, 0);
  struct BlasHandle here = {.stream = stream, .pointer_mode = description->pointer_mode};
  gemm.alpha = blas_scalar (&here, alpha, (BlasType) description->scale);
  gemm.beta = blas_scalar (&here, beta, (BlasType) description->scale);
  return blas_gemm (&here, &gemm);
}
