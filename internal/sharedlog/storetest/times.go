package storetest

import (
	"os"
	"strconv"
	"testing"
)

// Times is how often many create one object at the same time: 20, or what
// DEPLOYSTER_STORE_RACES says.
func Times(t *testing.T) int {
	t.Helper()
	text := os.Getenv("DEPLOYSTER_STORE_RACES")
	if text == "" {
		return 20
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
