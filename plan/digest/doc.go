// Package digest computes the id of a plan: the hash of its content. It takes the plan as
// values that can be encoded, separate from its resources, and returns a hexadecimal text.
package digest
