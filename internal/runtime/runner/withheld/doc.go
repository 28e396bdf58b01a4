// Package withheld takes out of outcomes that are kept without a client what may have a secret. An outcome and the values come
// in; the outcome as it may be kept goes out.
package withheld
