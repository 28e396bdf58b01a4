package services

import (
	"os/exec"
	"testing"
)

// Terraform is the path of the terraform on this machine. Debian has no package of it, so a
// test that compares with it is skipped where it is missing; .ci/setup reports that, too.
func Terraform(t testing.TB) string {
	t.Helper()
	program, err := exec.LookPath("terraform")
	if err != nil {
		t.Skip("terraform is not on the PATH; install it to run this test")
	}
	return program
}
