/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/base/json.h"

G_BEGIN_DECLS

/* One declarative table for each JSON shape: reading, writing, freeing and copying a plain struct all
 * follow from it. Unknown keys are kept out with a warning, wrong kinds are errors that name the key
 * path, what was expected and what was found. */

typedef struct _AssayJsonTable AssayJsonTable;

typedef enum
{
  ASSAY_JSON_STRING,  /* char *, NULL where absent */
  ASSAY_JSON_BOOLEAN, /* gboolean */
  ASSAY_JSON_INT,     /* gint64 */
  ASSAY_JSON_UINT,    /* guint64; a string in JSON above 2^53 */
  ASSAY_JSON_DOUBLE,  /* double; "NaN", "Infinity", "-Infinity" as strings; NaN stands for null */
  ASSAY_JSON_ENUM,    /* int, index into `words` */
  ASSAY_JSON_STRV,    /* char **, array of strings */
  ASSAY_JSON_EXPR,    /* char *: an integer or an arithmetic expression */
  ASSAY_JSON_EXPRS,   /* char **: array of such; NULL stands for null (a scalar's shape) */
  ASSAY_JSON_INTS,    /* GArray * of gint64 */
  ASSAY_JSON_UINTS,   /* GArray * of guint64 */
  ASSAY_JSON_DOUBLES, /* GArray * of double */
  ASSAY_JSON_STRUCT,  /* a struct in place, by `table` */
  ASSAY_JSON_POINTER, /* pointer to such a struct, NULL where absent or null */
  ASSAY_JSON_LIST,    /* GPtrArray * of such structs */
  ASSAY_JSON_MAP,     /* the same from an object: the element's first field is its char * name */
  ASSAY_JSON_NODE,    /* JsonNode *, kept as it is */
} AssayJsonKind;

typedef enum
{
  ASSAY_JSON_OPTIONAL = 0,
  ASSAY_JSON_REQUIRED = 1 << 0,
  ASSAY_JSON_KEEP_NULL = 1 << 1, /* write null rather than leaving the key out */
} AssayJsonFlags;

typedef struct
{
  const char *name;
  AssayJsonKind kind;
  gsize offset;
  const AssayJsonTable *table; /* STRUCT, POINTER, LIST, MAP */
  const char *const *words;    /* ENUM: NULL-terminated */
  AssayJsonFlags flags;
} AssayJsonField;

struct _AssayJsonTable
{
  const char *name; /* what one of these is called in messages */
  gsize size;
  const AssayJsonField *fields;       /* ends with a NULL name */
  void (*initialise) (gpointer self); /* sets defaults other than zero; may be NULL */
};

/* (transfer full): a new struct read from `node`; `path` is the key path it stands at ("" at the
 * top). Warnings ("unknown key …") are appended to `warnings` where that is not NULL. */
gpointer assay_json_table_read (const AssayJsonTable *table, JsonNode *node, const char *path,
                                GPtrArray *warnings, GError **error);
/* (transfer full) */
JsonNode *assay_json_table_write (const AssayJsonTable *table, gconstpointer self);

/* A zeroed struct with its defaults, its lists empty and not NULL. */
gpointer assay_json_table_new (const AssayJsonTable *table);
void assay_json_table_free (const AssayJsonTable *table, gpointer self);
gpointer assay_json_table_copy (const AssayJsonTable *table, gconstpointer self);

#define ASSAY_JSON_FIELD(Type, member_, key_, KIND_, ...)                                          \
  {                                                                                                \
    .name = key_, .kind = ASSAY_JSON_##KIND_, .offset = G_STRUCT_OFFSET (Type, member_),           \
    __VA_ARGS__                                                                                    \
  }
#define ASSAY_JSON_END                                                                             \
  {                                                                                                \
    .name = NULL                                                                                   \
  }

/* Declares `Type *name_new (void)`, `name_free`, `name_copy`, and its autoptr. */
#define ASSAY_JSON_DECLARE(Type, prefix, TABLE)                                                    \
  extern const AssayJsonTable TABLE;                                                               \
  static inline Type *prefix##_new (void) { return (Type *) assay_json_table_new (&TABLE); }       \
  static inline void prefix##_free (Type *self) { assay_json_table_free (&TABLE, self); }          \
  static inline Type *prefix##_copy (const Type *self)                                             \
  {                                                                                                \
    return (Type *) assay_json_table_copy (&TABLE, self);                                          \
  }                                                                                                \
  G_DEFINE_AUTOPTR_CLEANUP_FUNC (Type, prefix##_free)

G_END_DECLS
