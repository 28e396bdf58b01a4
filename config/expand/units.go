package expand

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/zclconf/go-cty/cty"

	"deployster/config/values"
)

// duration reads "5m".
func duration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("%q is not a time span: write, for example, \"30s\", \"5m\" or \"1h30m\"", text)
	}
	return d, nil
}

// checkImage finds what cannot be an image reference whatever registry it is
// for. The rest is the container runtime's to say.
func checkImage(ref string) error {
	if strings.TrimSpace(ref) == "" || strings.ContainsFunc(ref, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return fmt.Errorf("%q is not an image: write, for example, \"acme/file:1\"", ref)
	}
	return nil
}

var byteUnits = []struct {
	suffix string
	factor int64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"B", 1},
	{"", 1}}

// ParseBytes reads an amount of bytes: "256MiB", "1GB" or a number of bytes.
func ParseBytes(text string) (int64, error) {
	for _, u := range byteUnits {
		digits, ok := strings.CutSuffix(text, u.suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
		if err != nil || n <= 0 || n > (1<<62)/u.factor {
			break
		}
		return n * u.factor, nil
	}
	return 0, fmt.Errorf("%q is not an amount of bytes: write, for example, \"256MiB\"", text)
}

func wholeNumber(v cty.Value, low, high int64) (int64, error) {
	n, acc := v.AsBigFloat().Int64()
	if acc != big.Exact || n < low || n > high {
		return 0, fmt.Errorf("it must be a whole number from %d to %d, and not %s", low, high, values.ShortNumber(v))
	}
	return n, nil
}
