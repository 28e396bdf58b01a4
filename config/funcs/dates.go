package funcs

import (
	"fmt"
	"time"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

func dateFunctions(planned time.Time) map[string]function.Function {
	all := map[string]function.Function{
		"formatdate":    stdlib.FormatDateFunc,
		"plantimestamp": define(cty.String, nil, func([]cty.Value) (cty.Value, error) { return cty.StringVal(rfc3339(planned)), nil }),
		"timeadd":       stdlib.TimeAddFunc,
		"timecmp":       define(cty.Number, []function.Parameter{param("a", cty.String), param("b", cty.String)}, compareTimes),
	}
	if planned.IsZero() {
		all["plantimestamp"] = function.Unpredictable(all["plantimestamp"])
	}
	return all
}

func compareTimes(args []cty.Value) (cty.Value, error) {
	var at [2]time.Time
	for i := range at {
		var err error
		if at[i], err = time.Parse(time.RFC3339, args[i].AsString()); err != nil {
			return cty.NilVal, function.NewArgError(i, fmt.Errorf("%q is not a time such as \"2020-01-02T03:04:05Z\"", args[i].AsString()))
		}
	}
	return cty.NumberIntVal(int64(at[0].Compare(at[1]))), nil
}
