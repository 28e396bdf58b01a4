package source

import (
	"os"
	"strings"

	"deployster/internal/base/diag"
)

// TestEnding is how the name of a file of tests ends. Such a file is not a manifest.
const TestEnding = ".test.hcl"

// IsTestFile reports whether a file with this name has tests.
func IsTestFile(name string) bool {
	return strings.HasSuffix(name, TestEnding) && !strings.HasPrefix(name, ".") && name != TestEnding
}

// FindTests returns the names of the files of tests in a directory, sorted.
func FindTests(dir string) (names []string, err error) {
	entries, err := os.ReadDir(dir) // sorted by name
	for _, e := range entries {
		if !e.IsDir() && IsTestFile(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names, err
}

// ReadTests reads the text of a file of tests. shown is its name for people.
func ReadTests(path, shown string) ([]byte, diag.Diagnostics) {
	text, err := readRegular(path)
	if err != nil {
		return nil, diag.Diagnostics{diag.Errorf("Unreadable file of tests", "%q cannot be read: %s.", shown, reason(err))}
	}
	return text, nil
}
