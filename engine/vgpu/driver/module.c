/* SPDX-License-Identifier: Apache-2.0 */
/* Modules: PTX text to kernels, variables to memory; functions and their launches. */
#include "engine/vgpu/check/record.h"
#include "engine/vgpu/driver/work.h"
#include "engine/vgpu/exec/run.h"
#include "engine/vgpu/ptx/builder.h"
#include "engine/vgpu/ptx/link.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_CONSTANT_BYTES 65536

/* Functions have addresses so that they can be pointed to. */
static void
place_functions (CUmodule module)
{
  static uint64_t count;
  for (VgpuFunction *f = module->source.functions; f != NULL; f = f->next)
    if (f->has_body)
      f->address = VGPU_WINDOW_CODE + ++count * 16;
}

static bool
place_variables (CUmodule module, char *error)
{
  VgpuMemory *memory = module->context->memory;
  uint64_t constant = 0;
  place_functions (module);
  size_t count = 0;
  for (VgpuVariable *v = module->source.variables; v != NULL; v = v->next)
    count++;
  module->addresses = vgpu_take (count * sizeof *module->addresses);
  for (VgpuVariable *v = module->source.variables; v != NULL; v = v->next)
    {
      if ((v->space != VGPU_SPACE_GLOBAL && v->space != VGPU_SPACE_CONST) || v->external)
        continue;
      VgpuAllocation *allocation =
          vgpu_memory_allocate (memory, v->bytes > 0 ? v->bytes : 1, v->name, false);
      if (allocation == NULL)
        {
          snprintf (error, VGPU_ERROR_BYTES, "no memory for variable %s of %llu bytes", v->name,
                    (unsigned long long) v->bytes);
          return false;
        }
      allocation->module = true;
      allocation->constant = v->space == VGPU_SPACE_CONST;
      v->place = allocation->lo;
      module->addresses[module->address_count++] = allocation->lo;
      if (v->initial != NULL)
        memcpy ((void *) (uintptr_t) v->place, v->initial, v->bytes);
      constant += allocation->constant ? v->bytes : 0;
    }
  if (constant <= MAX_CONSTANT_BYTES)
    return true;
  snprintf (error, VGPU_ERROR_BYTES, "%llu bytes of constant memory, %d are allowed",
            (unsigned long long) constant, MAX_CONSTANT_BYTES);
  return false;
}

static bool
relocate (CUmodule module, char *error)
{
  for (VgpuVariable *v = module->source.variables; v != NULL; v = v->next)
    for (VgpuRelocation *r = v->relocations; r != NULL; r = r->next)
      {
        const VgpuVariable *to = vgpu_source_variable (&module->source, r->symbol);
        const VgpuFunction *function =
            to == NULL ? vgpu_source_function (&module->source, r->symbol) : NULL;
        uint64_t place = to != NULL ? to->place : function != NULL ? function->address : 0;
        if (place == 0 || v->place == 0)
          {
            snprintf (error, VGPU_ERROR_BYTES,
                      "the initial value of %s refers to %s, which has no address here", v->name,
                      r->symbol);
            return false;
          }
        uint64_t address = place + (uint64_t) r->addend;
        memcpy ((void *) (uintptr_t) (v->place + r->offset), &address, sizeof address);
      }
  return true;
}

static bool
check_target (const VgpuSource *source, char *error)
{
  const AssayTargetLimits *device = vgpu_driver.settings.target;
  const char *name = source->target != NULL ? source->target : "";
  const AssayTargetLimits *wanted = assay_target_limits (name);
  int number = strncmp (name, "sm_", 3) == 0 ? atoi (name + 3) : 0;
  int have = device->major * 10 + device->minor;
  if (number == 0)
    {
      snprintf (error, VGPU_ERROR_BYTES, "unknown .target %s", name);
      return false;
    }
  bool specific = name[strlen (name) - 1] == 'a';
  if (number <= have && !(specific && number != have))
    return true;
  snprintf (error, VGPU_ERROR_BYTES,
            "the PTX asks for %s%s, the virtual GPU is set to %s: compile for it, or set target",
            name, wanted == NULL ? " (unknown)" : "", device->name);
  return false;
}

CUresult
vgpu_function_ready (CUfunction function, char *error)
{
  const AssayTargetLimits *target = vgpu_driver.settings.target;
  error[0] = '\0';
  if (function->kernel != NULL)
    return CUDA_SUCCESS;
  VgpuKernel *kernel = vgpu_kernel_build (&function->module->source, function->entry, error);
  if (kernel == NULL)
    return CUDA_ERROR_INVALID_PTX;
  if (kernel->static_shared > target->shared_per_block)
    {
      snprintf (error, VGPU_ERROR_BYTES,
                "entry function %s uses too much shared data (0x%x bytes, 0x%x max)",
                function->entry->name, kernel->static_shared, target->shared_per_block);
      vgpu_report_launch ("launch.shared-limit", error, function->entry->name);
      vgpu_kernel_free (kernel);
      return CUDA_ERROR_INVALID_PTX;
    }
  function->kernel = kernel;
  return CUDA_SUCCESS;
}

/* `now`: also builds the kernels. Those of fat binaries, which may be hundreds, are built when they are
 * asked for. */
static bool
list_functions (CUmodule module, bool now, char *error)
{
  for (VgpuFunction *f = module->source.functions; f != NULL; f = f->next)
    {
      if (!f->is_entry || !f->has_body)
        continue;
      CUfunction function = vgpu_take (sizeof *function);
      function->entry = f;
      function->module = module;
      function->next = module->functions;
      module->functions = function;
      if (now && vgpu_function_ready (function, error) != CUDA_SUCCESS)
        return false;
    }
  return true;
}

static bool
parse_texts (CUmodule module, char *error)
{
  const VgpuTexts *texts = &module->texts;
  if (texts->count == 1)
    return vgpu_source_parse (&module->source, texts->texts[0], strlen (texts->texts[0]), error);
  VgpuSource *parts = vgpu_take (texts->count * sizeof *parts);
  bool good = true;
  for (size_t i = 0; good && i < texts->count; i++)
    good = vgpu_source_parse (&parts[i], texts->texts[i], strlen (texts->texts[i]), error);
  if (good)
    good = vgpu_source_link (&module->source, parts, texts->count, error);
  else
    for (size_t i = 0; i < texts->count; i++)
      vgpu_source_clear (&parts[i]);
  free (parts);
  return good;
}

static CUresult
read_image (const void *image, bool is_fat, VgpuTexts *texts, char *error)
{
  static const unsigned char elf[4] = {0x7f, 'E', 'L', 'F'};
  const AssayTargetLimits *target = vgpu_driver.settings.target;
  const char *text = image;
  if (text[0] == '\0')
    {
      snprintf (error, VGPU_ERROR_BYTES, "the image is empty");
      return CUDA_ERROR_INVALID_IMAGE;
    }
  if (memcmp (image, elf, 4) == 0)
    {
      snprintf (error, VGPU_ERROR_BYTES,
                "this is machine code: the virtual GPU executes PTX, compile to that");
      return CUDA_ERROR_NO_BINARY_FOR_GPU;
    }
  if (is_fat)
    return vgpu_fatbin_texts (image, target->major * 10 + target->minor, texts, error)
               ? CUDA_SUCCESS
               : CUDA_ERROR_NO_BINARY_FOR_GPU;
  texts->texts = vgpu_take (sizeof *texts->texts);
  texts->texts[0] = strdup (text);
  texts->count = 1;
  return texts->texts[0] != NULL ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult
vgpu_module_load (CUcontext context, const void *image, CUmodule *module, char *error)
{
  CUmodule loaded = vgpu_take (sizeof *loaded);
  bool is_fat = vgpu_fatbin_is (image);
  loaded->context = context;
  CUresult result = read_image (image, is_fat, &loaded->texts, error);
  /* A program without kernels registers a container without entries. */
  if (result == CUDA_SUCCESS && loaded->texts.count > 0
      && (!parse_texts (loaded, error) || !check_target (&loaded->source, error)
          || !place_variables (loaded, error) || !relocate (loaded, error)
          || !list_functions (loaded, !is_fat, error)))
    result = CUDA_ERROR_INVALID_PTX;
  if (result != CUDA_SUCCESS)
    {
      vgpu_module_free (loaded);
      return result;
    }
  loaded->next = context->modules;
  context->modules = loaded;
  *module = loaded;
  return CUDA_SUCCESS;
}

void
vgpu_module_free (CUmodule module)
{
  while (module->functions != NULL)
    {
      CUfunction next = module->functions->next;
      vgpu_kernel_free (module->functions->kernel);
      free (module->functions);
      module->functions = next;
    }
  for (size_t i = 0; i < module->address_count; i++)
    vgpu_memory_release (module->context->memory, module->addresses[i]);
  free (module->addresses);
  vgpu_source_clear (&module->source);
  vgpu_texts_clear (&module->texts);
  free (module);
}

/* Writes text to the caller's log buffer; the size option becomes the bytes written. */
static void
fill_log (unsigned int count, const CUjit_option *options, void **values, CUjit_option buffer,
          CUjit_option size, const char *text)
{
  char *to = NULL;
  size_t room = 0;
  void **size_value = NULL;
  for (unsigned int i = 0; i < count; i++)
    {
      if (options[i] == buffer)
        to = values[i];
      if (options[i] == size)
        {
          room = (size_t) (uintptr_t) values[i];
          size_value = &values[i];
        }
    }
  if (to == NULL || room == 0)
    return;
  snprintf (to, room, "%s", text);
  *size_value = (void *) (uintptr_t) (strlen (to) + 1);
}

CUresult
cuModuleLoadDataEx (CUmodule *module, const void *image, unsigned int option_count,
                    CUjit_option *options, void **option_values)
{
  CUcontext context;
  char error[VGPU_ERROR_BYTES] = "";
  CUresult result = vgpu_enter (&context);
  if (result != CUDA_SUCCESS)
    return result;
  if (module == NULL || image == NULL)
    return vgpu_leave (CUDA_ERROR_INVALID_VALUE);
  result = vgpu_module_load (context, image, module, error);
  if (result != CUDA_SUCCESS)
    {
      vgpu_explain ("%s", error);
      fill_log (option_count, options, option_values, CU_JIT_ERROR_LOG_BUFFER,
                CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, error);
    }
  fill_log (option_count, options, option_values, CU_JIT_INFO_LOG_BUFFER,
            CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, "");
  return vgpu_leave (result);
}

CUresult
cuModuleLoadData (CUmodule *module, const void *image)
{
  return cuModuleLoadDataEx (module, image, 0, NULL, NULL);
}

CUresult
cuModuleLoadFatBinary (CUmodule *module, const void *image)
{
  return cuModuleLoadDataEx (module, image, 0, NULL, NULL);
}

#define MAX_IMAGE_BYTES ((long) 1 << 30)

CUresult
cuModuleLoad (CUmodule *module, const char *path)
{
  CUresult result = CUDA_ERROR_FILE_NOT_FOUND;
  FILE *file = path != NULL ? fopen (path, "rb") : NULL;
  if (file == NULL)
    return path != NULL ? CUDA_ERROR_FILE_NOT_FOUND : CUDA_ERROR_INVALID_VALUE;
  long bytes = fseek (file, 0, SEEK_END) == 0 ? ftell (file) : -1;
  if (bytes >= 0 && bytes <= MAX_IMAGE_BYTES && fseek (file, 0, SEEK_SET) == 0)
    {
      char *image = vgpu_take ((size_t) bytes + 8);
      if (fread (image, 1, (size_t) bytes, file) == (size_t) bytes)
        result = cuModuleLoadData (module, image);
      free (image);
    }
  fclose (file);
  return result;
}

CUresult
cuModuleGetLoadingMode (int *mode)
{
  if (mode == NULL)
    return CUDA_ERROR_INVALID_VALUE;
  *mode = 2; /* lazy */
  return CUDA_SUCCESS;
}

static bool
is_module (CUcontext context, CUmodule module)
{
  for (CUmodule known = context->modules; known != NULL; known = known->next)
    if (known == module)
      return true;
  return false;
}

CUresult
cuModuleUnload (CUmodule module)
{
  CUcontext context;
  CUresult result = vgpu_enter (&context);
  if (result != CUDA_SUCCESS)
    return result;
  result = vgpu_wait_all (context);
  if (result != CUDA_SUCCESS)
    return vgpu_leave (result);
  for (CUmodule *link = &context->modules; *link != NULL; link = &(*link)->next)
    if (*link == module)
      {
        *link = module->next;
        vgpu_module_free (module);
        return vgpu_leave (CUDA_SUCCESS);
      }
  return vgpu_leave (CUDA_ERROR_INVALID_HANDLE);
}

CUresult
cuModuleGetFunction (CUfunction *function, CUmodule module, const char *name)
{
  CUcontext context;
  CUresult result = vgpu_enter (&context);
  if (result != CUDA_SUCCESS)
    return result;
  if (function == NULL || name == NULL)
    return vgpu_leave (CUDA_ERROR_INVALID_VALUE);
  *function = NULL;
  if (!is_module (context, module))
    return vgpu_leave (CUDA_ERROR_INVALID_HANDLE);
  for (CUfunction found = module->functions; found != NULL; found = found->next)
    if (strcmp (found->entry->name, name) == 0)
      {
        char error[VGPU_ERROR_BYTES];
        result = vgpu_function_ready (found, error);
        if (result != CUDA_SUCCESS)
          vgpu_explain ("%s", error);
        *function = found;
        return vgpu_leave (result);
      }
  vgpu_explain ("the module has no kernel %s", name);
  return vgpu_leave (CUDA_ERROR_NOT_FOUND);
}

CUresult
cuModuleGetGlobal_v2 (CUdeviceptr *pointer, size_t *bytes, CUmodule module, const char *name)
{
  CUcontext context;
  CUresult result = vgpu_enter (&context);
  if (result != CUDA_SUCCESS)
    return result;
  if (!is_module (context, module) || name == NULL)
    return vgpu_leave (CUDA_ERROR_INVALID_VALUE);
  const VgpuVariable *variable = vgpu_source_variable (&module->source, name);
  if (variable == NULL || variable->place == 0)
    return vgpu_leave (CUDA_ERROR_NOT_FOUND);
  if (pointer != NULL)
    *pointer = variable->place;
  if (bytes != NULL)
    *bytes = variable->bytes;
  return vgpu_leave (CUDA_SUCCESS);
}
