package limits

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// The limits on sources and on values.
const (
	Tokens     = 320_000  // in one file: a generated file of a megabyte has about as many
	Signs      = 400_000  // words and signs in one file, including its texts and comments
	Depth      = 100      // nested blocks, brackets, templates and values
	Operators  = 2000     // in one expression
	NumberText = 64       // characters of a number literal
	Exponent   = 400      // of a number, either sign, in powers of ten
	Text       = 16 << 20 // bytes of text in one value
	Elements   = 100_000  // elements in one value, at all levels
)

// Exceeded returns the diagnostic for an exceeded limit.
func Exceeded(r hcl.Range, what string, limit int) *hcl.Diagnostic {
	return &hcl.Diagnostic{
		Severity: hcl.DiagError,
		Summary:  "Too large to be read safely",
		Detail: fmt.Sprintf("There are more %s than the limit, which is %d. Split it into smaller parts, or move data to a file of its "+
			"own and read that with file().", what, limit),
		Subject: &r,
	}
}

// checkNumberText returns an error for a number that would take minutes to write out.
func checkNumberText(text string, r hcl.Range) *hcl.Diagnostic {
	if len(text) > NumberText {
		return Exceeded(r, "characters in one number", NumberText)
	}
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		exp, err := strconv.Atoi(strings.TrimPrefix(text[i+1:], "+"))
		if err == nil && (exp > Exponent || exp < -Exponent) {
			return Exceeded(r, "zeros in one number", Exponent)
		}
	}
	return nil
}

// CheckNumberText returns an error for text that could be a number which takes
// minutes to write out. Text that is not a number passes.
func CheckNumberText(text string) error {
	if strings.Trim(text, "0123456789+-.eE") != "" {
		return nil
	}
	if d := checkNumberText(text, hcl.Range{}); d != nil {
		return fmt.Errorf("it is a number of more than %d characters, or with an exponent beyond %d", NumberText, Exponent)
	}
	return nil
}
