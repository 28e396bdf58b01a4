// Package failure words errors of containerd and of the kernel for users: an error comes
// in, and a diagnostic or a part of a sentence goes out.
package failure
