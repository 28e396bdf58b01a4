package expand

import (
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/zclconf/go-cty/cty"

	"deployster/config/values"
)

// duration parses a duration such as "5m".
func duration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("%q is not a duration: write, for example, \"30s\", \"5m\" or \"1h30m\"", text)
	}
	return d, nil
}

// checkImage returns an error for text that is not an image reference for any
// registry. The container runtime checks the rest.
func checkImage(ref string) error {
	if strings.TrimSpace(ref) == "" || strings.ContainsFunc(ref, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return fmt.Errorf("%q is not an image: write, for example, \"acme/file:1\"", ref)
	}
	return nil
}

func wholeNumber(v cty.Value, low, high int64) (int64, error) {
	n, acc := v.AsBigFloat().Int64()
	if acc != big.Exact || n < low || n > high {
		return 0, fmt.Errorf("it must be a whole number from %d to %d, and not %s", low, high, values.ShortNumber(v))
	}
	return n, nil
}
