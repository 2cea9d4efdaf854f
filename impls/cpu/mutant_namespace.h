// Implementations stand in an inline namespace that a mutant renames, so that
// an original and its mutants can be linked into one program.
#ifndef WEIGHTPROOF_IMPLS_CPU_MUTANT_NAMESPACE_H_
#define WEIGHTPROOF_IMPLS_CPU_MUTANT_NAMESPACE_H_

#ifndef WEIGHTPROOF_MUTANT
#define WEIGHTPROOF_MUTANT original
#endif

#endif  // WEIGHTPROOF_IMPLS_CPU_MUTANT_NAMESPACE_H_
