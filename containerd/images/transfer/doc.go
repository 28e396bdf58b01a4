// Package transfer watches the transfer of an image and words its failures: bytes and
// errors of a registry come in; progress, and errors for users, go out.
package transfer
