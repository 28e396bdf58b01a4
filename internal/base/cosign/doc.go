// Package cosign verifies signatures of container images as the tool cosign makes them,
// with public keys and without network access. Keys and the signatures stored next to an
// image come in, a verdict goes out. It supports the two forms that exist: a signed
// payload next to the image, and a bundle that refers to it.
package cosign
