package typeview

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestSchemaRows_OfSchemasWithinThemselves(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ schema, want string }{
		"a list of itself": {`{"$defs":{"l":{"type":"array","items":{"$ref":"#/$defs/l"}}},"properties":{"a":{"$ref":"#/$defs/l"}}}`,
			"a: list of any"},
		"one of itself": {`{"$defs":{"l":{"anyOf":[{"type":"string"},{"$ref":"#/$defs/l"}]}},"properties":{"a":{"$ref":"#/$defs/l"}}}`,
			"a: string or any"},
	} {
		rows, _ := schemaRows(json.RawMessage(c.schema))
		if len(rows) == 0 || rows[0].Name+": "+rows[0].Type != c.want {
			t.Errorf("%s: %+v", name, rows)
		}
	}
}

// Each schema is one of two forms of the next: spelled out, the name would double each time.
func TestSchemaRows_NamesStayShort(t *testing.T) {
	t.Parallel()
	schemas := []string{`"d60":{"type":"string"}`}
	for i := range 60 {
		schemas = append(schemas, fmt.Sprintf(`"d%d":{"oneOf":[{"type":"array","items":{"$ref":"#/$defs/d%d"}},{"$ref":"#/$defs/d%d"}]}`, i, i+1, i+1))
	}
	rows, _ := schemaRows(json.RawMessage(`{"$defs":{` + strings.Join(schemas, ",") + `},"properties":{"a":{"$ref":"#/$defs/d0"}}}`))
	if len(rows) == 0 || len(rows[0].Type) > maxTypeName {
		t.Fatalf("%+v", rows)
	}
}
