package funcs

import (
	"fmt"
	"io"
	"time"

	"github.com/google/uuid"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"golang.org/x/crypto/bcrypt"
)

// Source provides the results of impure functions.
type Source struct {
	Now    time.Time // the result of timestamp
	Random io.Reader
	// Once returns the result of an earlier call with the same arguments; nil = each
	// call makes a new one.
	Once func(args string, make func() (string, error)) (string, error)
}

func (c *Source) once(args string, make func() (string, error)) (cty.Value, error) {
	if c.Once != nil {
		s, err := c.Once(args, make)
		return cty.StringVal(s), err
	}
	s, err := make()
	return cty.StringVal(s), err
}

// Impure returns the functions that need a Source, limited as all functions are.
func Impure(c *Source) map[string]function.Function {
	all := impureFunctions(c)
	for name, f := range all {
		all[name] = bounded(f)
	}
	return all
}

// maxCost is the highest cost that bcrypt accepts: each step doubles its time, and 14
// takes about a second.
const maxCost = 14

// impureFunctions returns the functions that need a Source; their results are unknown without one.
func impureFunctions(c *Source) map[string]function.Function {
	cost := param("cost", cty.Number)
	all := map[string]function.Function{
		"timestamp": define(cty.String, nil, func([]cty.Value) (cty.Value, error) { return cty.StringVal(rfc3339(c.Now)), nil }),
		"uuid": define(cty.String, nil, func([]cty.Value) (cty.Value, error) {
			return c.once("", func() (string, error) {
				id, err := uuid.NewRandomFromReader(c.Random)
				return id.String(), err
			})
		}),
		"bcrypt": function.New(&function.Spec{
			Params: []function.Parameter{param("text", cty.String)}, VarParam: &cost,
			Type: bcryptType,
			Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) { return hashed(c, args) },
		}),
	}
	if c == nil {
		for name, f := range all {
			all[name] = function.Unpredictable(f)
		}
	}
	return all
}

// ImpureNames returns the names of the functions that need a Source.
func ImpureNames() []string { return []string{"bcrypt", "timestamp", "uuid"} }

func rfc3339(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func bcryptType(args []cty.Value) (cty.Type, error) {
	if len(args) > 2 {
		return cty.NilType, function.NewArgErrorf(2, "bcrypt takes one argument or two")
	}
	if len(args) == 2 && args[1].IsKnown() && !args[1].IsNull() {
		if n := number(args[1]); n > maxCost || n != float64(int(n)) {
			return cty.NilType, function.NewArgErrorf(1, "it must be a whole number from %d to %d: what is greater takes too long",
				bcrypt.MinCost, maxCost)
		}
	}
	return cty.String, nil
}

func hashed(c *Source, args []cty.Value) (cty.Value, error) {
	text, cost := args[0].AsString(), bcrypt.DefaultCost
	if len(args) == 2 {
		cost = int(number(args[1]))
	}
	return c.once(fmt.Sprint(cost, text), func() (string, error) {
		out, err := bcrypt.GenerateFromPassword([]byte(text), cost)
		if err != nil {
			return "", function.NewArgErrorf(0, "it cannot be hashed: it must not have more than 72 bytes")
		}
		return string(out), nil
	})
}
