// Package cosign judges signatures of container images as the tool of that name makes
// them, with public keys and without asking anybody. Keys and what lies beside an image
// come in, a verdict goes out. It owns the two forms that there are: a signed payload
// beside the image, and a bundle that refers to it.
package cosign
