// Package jsondiff shows people JSON values, and the differences between two of them:
// keys by name, lists by their common elements, long texts line by line. It owns how a
// value is cut, quoted and masked: its output is bounded, without control characters but
// newlines, and never contains sensitive or unknown values.
package jsondiff
