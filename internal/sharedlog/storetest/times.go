package storetest

import (
	"os"
	"strconv"
	"testing"
)

// Times is how often many create one object at the same time: 20, or what an
// environment variable says.
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
