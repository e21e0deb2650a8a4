/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/findings/rules.h"

#define R(id, axis, severity, blame, component, needs, suggestion)                                 \
  {                                                                                                \
      id,                                                                                          \
      axis,                                                                                        \
      ASSAY_SEVERITY_##severity,                                                                   \
      ASSAY_BLAME_##blame,                                                                         \
      component,                                                                                   \
      ASSAY_NEEDS_##needs,                                                                         \
      suggestion},

/* clang-format off */
const AssayRule ASSAY_RULES[] = {
  /* the task itself */
  R ("task.manifest-invalid", "validity", BLOCKER, TASK, "spec", NOTHING, "Correct the named key; nothing can be judged before the task can be read.")
  R ("task.reference-fails", "validity", BLOCKER, TASK, "reference", RUN, "Repair the reference first: no verdict about a candidate stands without it.")
  R ("task.reference-candidate-shared", "integrity", MAJOR, TASK, "harness", PROBE, NULL)
  R ("task.spec-mismatch", "validity", MAJOR, TASK, "reference", CROSS_CHECK, "Work the specification's example by hand: it says which of the two references is wrong.")
  R ("task.numerics-silent", "validity", MINOR, TASK, "spec", NOTHING, "State what precision is promised or allowed; without it a rejection can be disputed.")
  R ("task.checker-vacuous", "validity", BLOCKER, TASK, "checker", CHECKER, "Let the checker look at every element, at shape and type, and at NaN, and fail loudly.")
  R ("task.checker-blind", "validity", MAJOR, TASK, "checker", CHECKER, "Compare element by element, against a tolerance that refuses every named wrong answer.")
  R ("task.checker-refuses-right", "validity", MAJOR, TASK, "checker", CHECKER, "Widen the checker's tolerance until the named right answers pass, and see that it accepts the reference itself.")
  R ("task.entry-mismatch", "validity", BLOCKER, TASK, "spec", RUN, "Let the arguments of the entry in task.json be the kernel's parameters: as many, in its order, arrays for pointers.")
  R ("task.input-coverage", "validity", MINOR, TASK, "inputs", NOTHING, "Add workloads that differ in seed, shape and sign, with an extent that is no multiple of a tile.")
  R ("task.dead-input", "validity", MAJOR, TASK, "inputs", AUDIT, "Ask whether the specification means it; if it does, say so, else change operation, inputs or tolerance until the answer depends on it.")
  R ("task.memory-budget", "environment", MAJOR, TASK, "inputs", NOTHING, "Reduce the workload, or take the target off the list.")
  R ("task.scope", "scope", MAJOR, TASK, "spec", REVIEWER, NULL)
  R ("task.category-mismatch", "scope", MAJOR, TASK, "spec", REVIEWER, NULL)
  R ("task.library-solvable", "scope", MAJOR, TASK, "spec", PROBE, NULL)
  R ("task.unsolvable", "validity", MAJOR, TASK, "spec", PROBE, NULL)
  R ("task.unsafe", "safety", MAJOR, TASK, "harness", REVIEWER, NULL)
  R ("task.license-conflict", "integrity", MAJOR, TASK, "spec", NOTHING, "Do not export this task for training; settle the licence first.")
  R ("debug.fault-not-observable", "validity", BLOCKER, TASK, "checker", START, NULL)
  R ("debug.fix-incomplete", "validity", BLOCKER, TASK, "checker", START, NULL)
  R ("debug.start-passes", "validity", BLOCKER, TASK, "checker", START, NULL)
  R ("opt.no-headroom", "performance", MINOR, TASK, "baseline", DEVICE, NULL)
  R ("opt.baseline-is-optimal", "performance", MINOR, TASK, "baseline", DEVICE, NULL)
  R ("fuse.rounding-point", "numerics", MAJOR, TASK, "spec", PROBE, NULL)
  R ("fuse.not-fused", "performance", MAJOR, CANDIDATE, "candidate", START, NULL)
  /* tolerance and reference */
  R ("num.zero-output-passes", "validity", BLOCKER, TASK, "tolerance", AUDIT, "Scale the tolerance to the output: make the absolute term small against the smallest values that matter, or use a relative rule.")
  R ("num.constant-output-passes", "validity", BLOCKER, TASK, "tolerance", AUDIT, "Tighten the absolute term, or choose inputs whose outputs differ by more than the tolerance.")
  R ("num.copy-input-passes", "validity", BLOCKER, TASK, "tolerance", AUDIT, "Choose inputs on which the operation does something the tolerance can see.")
  R ("num.downgrade-passes", "validity", MAJOR, TASK, "tolerance", AUDIT, "If the promised precision matters, bring the tolerance below the rounding of the next lower type; else say in the specification that it is allowed.")
  R ("num.tolerance-too-loose", "validity", MAJOR, TASK, "tolerance", AUDIT, "Tighten the rule until every named wrong answer is refused; the margin plot shows how far.")
  R ("num.tolerance-too-tight", "validity", MAJOR, TASK, "tolerance", AUDIT, "Widen the rule until the named right answers pass; the margin plot shows how far.")
  R ("num.reference-imprecise", "validity", MAJOR, TASK, "reference", GOLD, "Compute the reference in a wider type, or widen the tolerance to at least four times the reference's own error.")
  R ("num.tolerance-operands", "validity", MINOR, TASK, "tolerance", NOTHING, "Let the relative term scale with the reference, so that no candidate enlarges its own allowance.")
  R ("num.atol-dominated", "validity", MAJOR, TASK, "tolerance", AUDIT, "Choose inputs whose results stay above the absolute term, or make that term small against the smallest results that matter.")
  R ("num.input-sensitive", "validity", INFO, TASK, "tolerance", AUDIT, "Fix the distribution of the inputs in the specification, or scale the tolerance with the output.")
  R ("num.matched-ratio-escape", "validity", MAJOR, TASK, "tolerance", NOTHING, "Raise the matched ratio, or cap the error of the elements that may miss.")
  /* the candidate's numbers */
  R ("num.candidate-wrong", "numerics", BLOCKER, CANDIDATE, "candidate", COMPARE, "Look first where the error is: a band or a tile is an index or a mask, an even haze is precision.")
  R ("num.wrong-off-list", "numerics", MAJOR, CANDIDATE, "candidate", OFF_LIST, "Add the named variation to the workloads, and look for the branch or mask that only it takes.")
  R ("num.nan", "numerics", BLOCKER, CANDIDATE, "candidate", COMPARE, "Look for a division by zero, a root or logarithm of a negative value, or memory that was never written.")
  R ("num.overflow", "numerics", BLOCKER, CANDIDATE, "candidate", COMPARE, "Take a maximum off before an exponential, or accumulate in a type with more range.")
  R ("num.error-structure", "numerics", MAJOR, CANDIDATE, "candidate", GOLD, "Look at the loop bounds and the masks of the region; an error in one place only is seldom rounding.")
  R ("num.biased-error", "numerics", MAJOR, CANDIDATE, "candidate", GOLD, "Look for truncation or a narrow accumulator.")
  R ("num.ulp-above-documented", "numerics", MINOR, ENVIRONMENT, "harness", PROBE, NULL)
  R ("num.nondeterministic", "numerics", MINOR, CANDIDATE, "candidate", REPEAT, "Reduce in a fixed order: partial results to memory, then one thread or a fixed tree adds them.")
  R ("num.backward-wrong", "numerics", BLOCKER, CANDIDATE, "candidate", PROBE, NULL)
  R ("migrate.accumulation-differs", "numerics", MAJOR, CANDIDATE, "candidate", START, NULL)
  R ("migrate.rounding-differs", "numerics", MAJOR, CANDIDATE, "candidate", START, NULL)
  R ("migrate.layout-transform", "validity", MAJOR, TASK, "harness", START, NULL)
  /* memory, races, barriers */
  R ("mem.out-of-bounds", "numerics", BLOCKER, CANDIDATE, "candidate", VGPU, "Guard the access with the extent of the array, before the access and not after it.")
  R ("mem.misaligned", "numerics", BLOCKER, CANDIDATE, "candidate", VGPU, "Use a narrower access, or check the alignment of the row before the wide one.")
  R ("mem.uninitialised", "numerics", BLOCKER, CANDIDATE, "candidate", UNINIT, "Write the value before it is read, or do not read it.")
  R ("mem.use-after-free", "numerics", BLOCKER, CANDIDATE, "candidate", VGPU, NULL)
  R ("mem.leak", "numerics", MINOR, CANDIDATE, "candidate", VGPU, NULL)
  R ("mem.input-modified", "numerics", BLOCKER, CANDIDATE, "candidate", RUN, "Inputs are read-only in this task; write to a workspace.")
  R ("mem.guard-overwritten", "numerics", BLOCKER, CANDIDATE, "candidate", RUN, "Guard the store with the extent of the output.")
  R ("race.shared", "numerics", BLOCKER, CANDIDATE, "candidate", RACE, "Put a barrier between the two accesses that every thread of the block reaches.")
  R ("race.global", "numerics", BLOCKER, CANDIDATE, "candidate", RACE_GLOBAL, "Blocks run in any order: use atomics, or a second kernel.")
  R ("race.async-copy", "numerics", BLOCKER, CANDIDATE, "candidate", RACE, "Wait for the copy's group, then for the block, before the data are read.")
  R ("race.same-value", "numerics", MINOR, CANDIDATE, "candidate", RACE, "Let one thread write.")
  R ("sync.divergent-barrier", "numerics", BLOCKER, CANDIDATE, "candidate", SYNC, "Move the barrier out of the branch.")
  R ("sync.inactive-lane", "numerics", BLOCKER, CANDIDATE, "candidate", SYNC, "Name only lanes in the mask that take part.")
  R ("sync.mbarrier-misused", "numerics", BLOCKER, CANDIDATE, "candidate", SYNC, "Initialise the barrier once, for as many arrivals as a phase has.")
  R ("sync.deadlock", "numerics", BLOCKER, CANDIDATE, "candidate", SYNC, NULL)
  R ("run.output-dropped", "numerics", MINOR, CANDIDATE, "candidate", RUN, "Print less: what a kernel prints is for the author's eyes, and no verdict rests on it.")
  R ("run.failed", "numerics", BLOCKER, CANDIDATE, "candidate", RUN, NULL)
  /* launches, builds, portability */
  R ("launch.block-too-large", "environment", BLOCKER, CANDIDATE, "candidate", NOTHING, "Launch fewer threads in a block.")
  R ("launch.grid-limit", "environment", BLOCKER, CANDIDATE, "candidate", NOTHING, "Fold the grid into its first dimension, or loop inside the kernel.")
  R ("launch.shared-limit", "environment", BLOCKER, CANDIDATE, "candidate", NOTHING, "Use less shared memory, or raise the limit by attribute where the target has more.")
  R ("launch.registers", "environment", BLOCKER, CANDIDATE, "candidate", COMPILE, "Bound the registers with __launch_bounds__, or launch fewer threads.")
  R ("launch.unchecked-error", "numerics", BLOCKER, CANDIDATE, "candidate", PROBE, NULL)
  R ("build.failed", "environment", BLOCKER, CANDIDATE, "candidate", COMPILE, NULL)
  R ("build.arch-unsupported", "environment", INFO, ENVIRONMENT, "harness", COMPILE, "Use a toolkit that still knows this architecture, or take the target off the list.")
  R ("build.spills", "performance", MINOR, CANDIDATE, "candidate", COMPILE, "Bound the registers less tightly, or keep less alive at a time.")
  R ("index.overflow-32bit", "numerics", MAJOR, CANDIDATE, "candidate", NOTHING, "Compute indices of this array in 64 bits.")
  R ("port.warp-width", "environment", MAJOR, CANDIDATE, "candidate", PROBE, NULL)
  R ("port.fp8-flavour", "numerics", MAJOR, CANDIDATE, "candidate", PROBE, NULL)
  R ("port.integer-division", "numerics", MAJOR, CANDIDATE, "candidate", PROBE, NULL)
  R ("port.defaults", "numerics", MAJOR, CANDIDATE, "candidate", PROBE, NULL)
  R ("layout.assumes-contiguous", "numerics", MAJOR, CANDIDATE, "candidate", COMPARE, "Use the strides that the task passes.")
  R ("layout.aliasing", "numerics", MAJOR, CANDIDATE, "candidate", PROBE, NULL)
  R ("tune.unrestored-output", "numerics", MAJOR, CANDIDATE, "candidate", FRAMEWORK, NULL)
  R ("tune.config-wrong", "numerics", MAJOR, CANDIDATE, "candidate", FRAMEWORK, NULL)
  R ("tune.key-incomplete", "numerics", MAJOR, CANDIDATE, "candidate", FRAMEWORK, NULL)
  /* performance */
  R ("mem.uncoalesced", "performance", INFO, CANDIDATE, "candidate", PROFILE, NULL)
  R ("mem.bank-conflicts", "performance", INFO, CANDIDATE, "candidate", PROFILE, NULL)
  R ("launch.low-occupancy", "performance", INFO, CANDIDATE, "candidate", PROFILE, NULL)
  R ("bench.no-warmup", "performance", MAJOR, TASK, "benchmark", DEVICE, NULL)
  R ("bench.warm-cache", "performance", MAJOR, TASK, "benchmark", DEVICE, NULL)
  R ("bench.flush-too-small", "performance", MAJOR, TASK, "benchmark", DEVICE, NULL)
  R ("bench.not-synchronised", "performance", MAJOR, TASK, "benchmark", DEVICE, NULL)
  R ("bench.other-stream", "performance", MAJOR, TASK, "benchmark", DEVICE, NULL)
  R ("bench.compile-timed", "performance", MAJOR, TASK, "benchmark", DEVICE, NULL)
  R ("bench.same-inputs", "performance", MAJOR, TASK, "benchmark", DEVICE, NULL)
  R ("bench.few-samples", "performance", MAJOR, TASK, "benchmark", DEVICE, NULL)
  R ("bench.drift", "performance", MAJOR, TASK, "benchmark", DEVICE, NULL)
  R ("bench.not-interleaved", "performance", MAJOR, TASK, "benchmark", DEVICE, NULL)
  R ("bench.self-reported", "performance", MAJOR, TASK, "benchmark", DEVICE, NULL)
  R ("bench.baseline-unfair", "performance", MAJOR, TASK, "baseline", DEVICE, NULL)
  R ("bench.precision-mismatch", "performance", MAJOR, TASK, "baseline", DEVICE, NULL)
  R ("bench.metric-wrong", "performance", MAJOR, TASK, "benchmark", DEVICE, NULL)
  R ("bench.faster-than-possible", "performance", MAJOR, TASK, "benchmark", DEVICE, NULL)
  R ("bench.shape-cherry-picked", "performance", MAJOR, TASK, "benchmark", DEVICE, NULL)
  /* integrity */
  R ("hack.replayed-output", "integrity", BLOCKER, CANDIDATE, "candidate", PROBE, NULL)
  R ("hack.library-call", "integrity", BLOCKER, CANDIDATE, "candidate", PROBE, NULL)
  R ("hack.decoy-kernel", "integrity", BLOCKER, CANDIDATE, "candidate", PROBE, NULL)
  R ("hack.timer-patched", "integrity", BLOCKER, CANDIDATE, "candidate", DEVICE, NULL)
  R ("hack.reads-reference", "integrity", BLOCKER, CANDIDATE, "candidate", PROBE, NULL)
  R ("hack.input-dependent-path", "integrity", BLOCKER, CANDIDATE, "candidate", PROBE, NULL)
  /* frameworks */
  R ("pallas.block-shape", "environment", BLOCKER, CANDIDATE, "candidate", FRAMEWORK, NULL)
  R ("pallas.vmem", "environment", BLOCKER, CANDIDATE, "candidate", FRAMEWORK, NULL)
  R ("pallas.race", "numerics", BLOCKER, CANDIDATE, "candidate", FRAMEWORK, NULL)
  R ("pallas.unmasked-padding", "numerics", BLOCKER, CANDIDATE, "candidate", FRAMEWORK, NULL)
  R ("nki.partition-limit", "environment", BLOCKER, CANDIDATE, "candidate", FRAMEWORK, NULL)
  R ("nki.psum-bank", "environment", BLOCKER, CANDIDATE, "candidate", FRAMEWORK, NULL)
  R ("nki.matmul-limits", "environment", BLOCKER, CANDIDATE, "candidate", FRAMEWORK, NULL)
  R ("nki.engine-operand", "environment", BLOCKER, CANDIDATE, "candidate", FRAMEWORK, NULL)
  R ("nki.uninitialised", "numerics", BLOCKER, CANDIDATE, "candidate", FRAMEWORK, NULL)
  R ("nki.sbuf-capacity", "environment", BLOCKER, CANDIDATE, "candidate", FRAMEWORK, NULL)
  R ("triton.out-of-resources", "environment", BLOCKER, CANDIDATE, "candidate", FRAMEWORK, NULL)
  R ("triton.unmasked-access", "numerics", BLOCKER, CANDIDATE, "candidate", FRAMEWORK, NULL)
  /* what is not the candidate's fault */
  R ("env.no-device", "environment", INFO, ENVIRONMENT, "harness", NOTHING, NULL)
  R ("env.driver-mismatch", "environment", INFO, ENVIRONMENT, "harness", NOTHING, NULL)
  R ("env.toolchain", "environment", INFO, ENVIRONMENT, "harness", NOTHING, NULL)
  R ("env.out-of-memory", "environment", INFO, ENVIRONMENT, "harness", NOTHING, NULL)
  R ("env.hardware", "environment", INFO, HARDWARE, "harness", NOTHING, NULL)
  R ("env.interpreter-gap", "environment", INFO, INTERPRETER, "harness", NOTHING, NULL)
  R ("env.harness", "environment", INFO, ENVIRONMENT, "harness", NOTHING, NULL)
  R ("env.import", "environment", INFO, ENVIRONMENT, "harness", NOTHING, NULL)
  R ("env.api-version", "environment", INFO, ENVIRONMENT, "harness", NOTHING, NULL)
  R ("env.collective", "environment", INFO, ENVIRONMENT, "harness", NOTHING, NULL)
};
/* clang-format on */
const gsize ASSAY_N_RULES = G_N_ELEMENTS (ASSAY_RULES);

const AssayRule *
assay_rule_find (const char *id)
{
  for (gsize i = 0; id && i < ASSAY_N_RULES; i++)
    if (g_str_equal (ASSAY_RULES[i].id, id))
      return &ASSAY_RULES[i];
  return NULL;
}
