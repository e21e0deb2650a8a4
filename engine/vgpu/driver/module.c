/* SPDX-License-Identifier: Apache-2.0 */
/* Modules: PTX text to kernels, variables to memory; functions and their launches. */
#include "engine/vgpu/check/record.h"
#include "engine/vgpu/driver/driver.h"
#include "engine/vgpu/exec/run.h"
#include "engine/vgpu/ptx/builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_CONSTANT_BYTES 65536

static bool
place_variables (CUmodule module, char *error)
{
  VgpuMemory *memory = module->context->memory;
  uint64_t constant = 0;
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
        if (to == NULL || to->place == 0 || v->place == 0)
          {
            snprintf (error, VGPU_ERROR_BYTES,
                      "the initial value of %s refers to %s, which has no address here", v->name,
                      r->symbol);
            return false;
          }
        uint64_t address = to->place + (uint64_t) r->addend;
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

static bool
build_functions (CUmodule module, char *error)
{
  const AssayTargetLimits *target = vgpu_driver.settings.target;
  for (VgpuFunction *f = module->source.functions; f != NULL; f = f->next)
    {
      if (!f->is_entry || !f->has_body)
        continue;
      VgpuKernel *kernel = vgpu_kernel_build (&module->source, f, error);
      if (kernel == NULL)
        return false;
      CUfunction function = vgpu_take (sizeof *function);
      function->kernel = kernel;
      function->module = module;
      function->next = module->functions;
      module->functions = function;
      if (kernel->static_shared > target->shared_per_block)
        {
          snprintf (error, VGPU_ERROR_BYTES,
                    "entry function %s uses too much shared data (0x%x bytes, 0x%x max)", f->name,
                    kernel->static_shared, target->shared_per_block);
          vgpu_report_launch ("launch.shared-limit", error, f->name);
          return false;
        }
    }
  return true;
}

static bool
is_machine_code (const char *image)
{
  static const unsigned char elf[4] = {0x7f, 'E', 'L', 'F'};
  static const unsigned char fat[4] = {0x50, 0xed, 0x55, 0xba};
  static const unsigned char wrapper[4] = {0xb1, 0x43, 0x62, 0x46};
  return memcmp (image, elf, 4) == 0 || memcmp (image, fat, 4) == 0
         || memcmp (image, wrapper, 4) == 0;
}

CUresult
vgpu_module_load (CUcontext context, const char *image, CUmodule *module, char *error)
{
  if (image[0] == '\0')
    {
      snprintf (error, VGPU_ERROR_BYTES, "the image is empty");
      return CUDA_ERROR_INVALID_IMAGE;
    }
  if (is_machine_code (image))
    {
      snprintf (error, VGPU_ERROR_BYTES,
                "this is machine code: the virtual GPU executes PTX, compile to that");
      return CUDA_ERROR_NO_BINARY_FOR_GPU;
    }
  CUmodule loaded = vgpu_take (sizeof *loaded);
  size_t length = strlen (image);
  loaded->context = context;
  loaded->text = vgpu_take (length + 1);
  memcpy (loaded->text, image, length);
  if (!vgpu_source_parse (&loaded->source, loaded->text, length, error)
      || !check_target (&loaded->source, error) || !place_variables (loaded, error)
      || !relocate (loaded, error) || !build_functions (loaded, error))
    {
      vgpu_module_free (loaded);
      return CUDA_ERROR_INVALID_PTX;
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
  free (module->text);
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
  if (!is_module (context, module))
    return vgpu_leave (CUDA_ERROR_INVALID_HANDLE);
  for (CUfunction found = module->functions; found != NULL; found = found->next)
    if (strcmp (found->kernel->name, name) == 0)
      {
        *function = found;
        return vgpu_leave (CUDA_SUCCESS);
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
