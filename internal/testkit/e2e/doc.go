// Package e2e tests the program from end to end: the real command, real
// containers and the files that people read. It owns the scripts in
// testdata/script, the hostile images, the kills, the checks of everything that
// is printed or recorded against the published schemas, and the tests of the
// documentation. It imports cli and containerd so that its test binary is the
// command, the embedded containerd and the shim; nothing imports it.
package e2e
