package funcs

import (
	"io"
	"time"

	"github.com/google/uuid"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"golang.org/x/crypto/bcrypt"
)

// Chance is where what is never the same twice comes from.
type Chance struct {
	Now    time.Time // what timestamp gives
	Random io.Reader
}

// maxCost is the cost that bcrypt takes: each more doubles its time, and 14
// takes about a second.
const maxCost = 14

// chanceFunctions are unknown until there is a Chance.
func chanceFunctions(c *Chance) map[string]function.Function {
	text := func(f func() (string, error)) func([]cty.Value) (cty.Value, error) {
		return func([]cty.Value) (cty.Value, error) {
			s, err := f()
			return cty.StringVal(s), err
		}
	}
	cost := param("cost", cty.Number)
	all := map[string]function.Function{
		"timestamp": define(cty.String, nil, text(func() (string, error) { return rfc3339(c.Now), nil })),
		"uuid": define(cty.String, nil, text(func() (string, error) {
			id, err := uuid.NewRandomFromReader(c.Random)
			return id.String(), err
		})),
		"bcrypt": function.New(&function.Spec{
			Params: []function.Parameter{param("text", cty.String)}, VarParam: &cost,
			Type: bcryptType,
			Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) { return hashed(args) },
		}),
	}
	if c == nil {
		for name, f := range all {
			all[name] = function.Unpredictable(f)
		}
	}
	return all
}

// Volatile are the names of the functions that a Chance is needed for.
func Volatile() []string { return []string{"bcrypt", "timestamp", "uuid"} }

func rfc3339(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func bcryptType(args []cty.Value) (cty.Type, error) {
	if len(args) > 2 {
		return cty.NilType, function.NewArgErrorf(2, "bcrypt takes one argument or two")
	}
	if len(args) == 2 && args[1].IsKnown() && !args[1].IsNull() {
		if n := number(args[1]); n > maxCost || n != float64(int(n)) {
			return cty.NilType, function.NewArgErrorf(1, "it must be a whole number from %d to %d: what is greater takes too long", bcrypt.MinCost, maxCost)
		}
	}
	return cty.String, nil
}

func hashed(args []cty.Value) (cty.Value, error) {
	cost := bcrypt.DefaultCost
	if len(args) == 2 {
		cost = int(number(args[1]))
	}
	out, err := bcrypt.GenerateFromPassword([]byte(args[0].AsString()), cost)
	if err != nil {
		return cty.NilVal, function.NewArgErrorf(0, "it cannot be hashed: it must not have more than 72 bytes")
	}
	return cty.StringVal(string(out)), nil
}
