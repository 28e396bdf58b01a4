// Package cases owns files of tests, *.test.hcl: what each case gives a manifest, what the world around it has,
// and what it expects of the plan. Its input is the text of such a file, and a plan as planvalue has it; its output
// are Cases, and the results of their assertions. Plans are made by others.
package cases
