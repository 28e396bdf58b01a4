// Package jsondiff shows people JSON values, and what differs between two of them:
// keys by name, lists by what they have in common, long texts line by line. It owns
// how a value is cut, quoted and masked: what comes out is bounded, without control
// characters but newlines, and never holds what is sensitive or not known yet.
package jsondiff
