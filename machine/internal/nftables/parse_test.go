package nftables

import (
	"strings"
	"testing"

	"deployster/protocol"
)

func TestTable_RulesStayInTheirTable(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"chain a {\n\ttype filter hook input priority 0\n}":                    "",
		"chain a { counter comment \"}}\" }\n# }\nset s { }":                   "",
		"chain a { }\n}\ntable ip other {\n":                                   "line 2 closes the table itself",
		"}\nflush ruleset\ntable inet x {":                                     "line 1 closes the table itself",
		"chain a {":                                                            "1 braces are not closed",
		"chain a { # }":                                                        "1 braces are not closed",
		"chain a {\n  log prefix \"a{\" # \"\n  ip saddr { 1.2.3.4 } accept }": "",
	} {
		c := &call{Config: Config{Family: "inet", Table: "x", Ruleset: text}}
		err := check(c)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
		c.Intent = protocol.Absent
		if err := check(c); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestTable_CountsDoNotMakeDrift(t *testing.T) {
	t.Parallel()
	one := `{"nftables":[{"metainfo":{"version":"1"}},{"table":{"family":"inet","name":"x","handle":4}},{"rule":{"handle":5,"expr":[{"counter":{"packets":1,
"bytes":60}},{"accept":null}]}},{"set":{"name":"s","flags":["dynamic"],"elem":["1.2.3.4"]}}]}`
	other := strings.NewReplacer(`:4}`, `:9}`, `"packets":1`, `"packets":7`, `["1.2.3.4"]`, `[]`).Replace(one)
	a, err := described([]byte(one))
	b, wrong := described([]byte(other))
	if err != nil || wrong != nil || a != b || !strings.Contains(a, "accept") {
		t.Errorf("%q\n%q %v %v", a, b, err, wrong)
	}
	if c, err := described([]byte(strings.Replace(one, "accept", "drop", 1))); err != nil || c == a {
		t.Errorf("%q %v", c, err)
	}
}
