// Package transfer watches the transfer of an image and words its failures: bytes and
// errors of a registry, and the platforms of an image, come in; progress, and errors for
// users, go out.
package transfer
