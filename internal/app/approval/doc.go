// Package approval owns what a person has approved before a plan is applied: the words of -confirm,
// -approve and -deferred, what they leave open, and whether to prompt about the rest. Options and a
// plan come in; the questions that apply shows while it runs go out, or a refusal.
package approval
