/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/number/dtype.h"

#include <gio/gio.h>
#include <json-glib/json-glib.h>

G_BEGIN_DECLS

#define ASSAY_ARRAY_MAX_DIMS 8

/* A contiguous row-major array in memory. Shape and dtype are fixed when it is made; reference
 * counted, safe to hand to another thread that only reads. A scalar has no dimensions, one element. */
typedef struct
{
  AssayDtype dtype;
  guint ndim;
  gint64 shape[ASSAY_ARRAY_MAX_DIMS];
  gsize count; /* elements; complex ones count once */
  gsize bytes; /* count × item_bytes of the dtype */
  guint8 *data;
  GBytes *owner; /* what keeps borrowed data alive; then `data` is not to be written */
  gatomicrefcount references;
} AssayArray;

/* The number of elements and bytes of a shape, checked: negative extents, more than eight
 * dimensions and products beyond 2^62 bytes are errors. `bytes` may be NULL. */
gboolean assay_shape_size (AssayDtype dtype, const gint64 *shape, guint ndim, gsize *count,
                           gsize *bytes, GError **error);
/* (transfer full): "[128, 4096]", "scalar" */
char *assay_shape_to_string (const gint64 *shape, guint ndim);

/* Zero-filled. Running out of memory is an error, not an abort. */
AssayArray *assay_array_new (AssayDtype dtype, const gint64 *shape, guint ndim, GError **error);
/* Over `bytes` without a copy; their length must be exactly that of the shape. */
AssayArray *assay_array_new_from_bytes (AssayDtype dtype, const gint64 *shape, guint ndim,
                                        GBytes *bytes, GError **error);
/* Takes over `size` bytes at `data` (for example a mapping), released by `release (user_data)`. */
AssayArray *assay_array_new_take (AssayDtype dtype, const gint64 *shape, guint ndim, gpointer data,
                                  gsize size, GDestroyNotify release, gpointer user_data,
                                  GError **error);
/* The same shape in another dtype, every component rounded once to nearest. */
AssayArray *assay_array_convert (const AssayArray *array, AssayDtype dtype, GError **error);
AssayArray *assay_array_copy (const AssayArray *array, GError **error);
AssayArray *assay_array_ref (AssayArray *array);
void assay_array_unref (AssayArray *array);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (AssayArray, assay_array_unref)

gboolean assay_array_same_shape (const AssayArray *a, const AssayArray *b);
/* Component `index` (elements, but for complex types twice as many). */
double assay_array_get (const AssayArray *array, gsize index);
void assay_array_set (AssayArray *array, gsize index, double value);
gsize assay_array_components (const AssayArray *array);

/* Files. The format follows from the name's ending: .npy (versions 1 to 3, both byte orders, both
 * storage orders, no pickled objects), .npz or .safetensors; any other file is raw data when a file of the
 * same name and .json beside it says what it holds: {"dtype": …, "shape": […]}, and where they are not
 * so, "byte_order": "little" and "offset": 0. `tensor` names one array of a .npz or .safetensors file; NULL
 * takes the only one, and is ignored elsewhere. Contents are bounded before memory is taken. */
AssayArray *assay_array_load (const char *path, const char *tensor, GError **error);
/* .npy for the types NumPy has, else .safetensors with the tensor name "array". */
gboolean assay_array_save (const AssayArray *array, const char *path, GError **error);
/* TRUE when .npy can hold this dtype. */
gboolean assay_array_npy_has (AssayDtype dtype);

AssayArray *assay_npy_parse (GBytes *bytes, const char *source, GError **error);
AssayArray *assay_npz_parse (GBytes *bytes, const char *tensor, const char *source, GError **error);
AssayArray *assay_raw_parse (GBytes *bytes, JsonNode *description, const char *source,
                             GError **error);
GBytes *assay_npy_format (const AssayArray *array, GError **error);

/* (transfer full) (element-type utf8): names in file order. */
char **assay_safetensors_names (GBytes *bytes, const char *source, GError **error);
AssayArray *assay_safetensors_parse (GBytes *bytes, const char *tensor, const char *source,
                                     GError **error);
GBytes *assay_safetensors_format (const char *const *names, AssayArray *const *arrays, guint count,
                                  GError **error);

G_END_DECLS
