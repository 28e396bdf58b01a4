// Package policies owns the policy blocks of a manifest: what each declares, and what its rules deny of a
// plan. Its input are the blocks that decl has decoded and a plan as planvalue has it; its output are
// Policies and Findings. Images of policies are run by others.
package policies
