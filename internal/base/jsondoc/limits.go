package jsondoc

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// The bounds of a document of others.
const (
	MaxDepth    = 64      // nested objects and arrays
	MaxNodes    = 500_000 // values in one document
	MaxDigits   = 400     // characters in one number
	MaxExponent = 400     // of a number, either sign
)

// limits bound the size of a document.
type limits struct{ depth, values int }

func foreign() limits { return limits{MaxDepth, MaxNodes} }
func own() limits     { return limits{2 * MaxDepth, math.MaxInt} }

// allow reports whether valid JSON is surely within the limits. It counts the characters
// outside strings, and returns false for a number with an exponent, so that explain checks it.
func (l limits) allow(data []byte) bool {
	depth, values, digits := 0, 1, 0
	for i := 0; i < len(data); i++ {
		switch c := data[i]; c {
		case '"':
			i += stringLength(data[i:]) - 1
		case '{', '[':
			depth++
			values++
		case '}', ']':
			depth--
		case ',':
			values++
			digits = 0
		case '.', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
			digits++
		case 'e', 'E':
			if digits > 0 {
				return false
			}
		}
		if depth > l.depth || values > l.values || digits >= MaxDigits {
			return false
		}
	}
	return true
}

// stringLength returns the length in bytes of the string at the beginning of data.
func stringLength(data []byte) int {
	for end := 1; ; end++ {
		end += bytes.IndexByte(data[end:], '"')
		escapes := 0
		for data[end-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return end + 1
		}
	}
}

// checkNumber describes what is invalid about a number, or returns "".
func checkNumber(number string) string {
	if len(number) > MaxDigits {
		return fmt.Sprintf("a number of more than %d digits", MaxDigits)
	}
	i := strings.IndexAny(number, "eE")
	if i < 0 {
		return ""
	}
	exponent, err := strconv.Atoi(number[i+1:])
	if err != nil || exponent > MaxExponent || exponent < -MaxExponent {
		return fmt.Sprintf("a number with an exponent beyond %d", MaxExponent)
	}
	return ""
}
