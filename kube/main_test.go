package main

import (
	"os"
	"strings"
	"testing"
)

// The client refuses another version.
func TestVersion_IsThatOfDeployster(t *testing.T) {
	source, err := os.ReadFile("../internal/base/version/version.go")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(source), `= "`+version+`"`) {
		t.Errorf("deployster has another version than %s", version)
	}
}
