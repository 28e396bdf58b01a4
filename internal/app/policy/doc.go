// Package policy has policies judge plans: those of manifests, and those that the environment requires. Its input
// are policy blocks and a plan; its output are the verdicts in the plan. Images of policies run on this machine,
// and read nothing but their config and the plan, without its secrets.
package policy
