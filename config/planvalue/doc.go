// Package planvalue owns the whole plan as a value of expressions: what rules of policies read as plan. Its
// input is the JSON of a plan without its sensitive values; its output are the values of expressions that may
// use it in addition to what the manifest declares.
package planvalue
