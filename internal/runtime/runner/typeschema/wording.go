package typeschema

import (
	"bytes"
	"math/big"
	"strconv"
	"strings"

	"deployster/internal/base/jsondoc"
)

func words(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = strconv.Quote(n)
	}
	return strings.Join(quoted, ", ")
}

// values formats constants of the schema.
func values(list []any) string {
	var parts []string
	for _, v := range list {
		b, err := jsondoc.Encode(v)
		if err != nil {
			b = []byte("?")
		}
		parts = append(parts, string(bytes.TrimSpace(b)))
	}
	return strings.Join(parts, ", ")
}

func number(r *big.Rat) string {
	if r.IsInt() {
		return r.Num().String()
	}
	s := strings.TrimRight(r.FloatString(20), "0")
	return strings.TrimSuffix(s, ".")
}
