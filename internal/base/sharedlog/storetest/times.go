package storetest

import (
	"os"
	"strconv"
	"testing"
)

// Times returns the argument of Suite: 20, or the value of an environment variable.
func Times(t *testing.T, variable string) int {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return 20
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
