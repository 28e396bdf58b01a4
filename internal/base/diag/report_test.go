package diag

import (
	"strings"
	"testing"
)

// The keys are those of `terraform validate -json` 1.11, in its order.
func TestReport_HasTheKeysOfTerraform(t *testing.T) {
	t.Parallel()
	list := Diagnostics{
		{Severity: Error, Summary: "Bad <thing>", Detail: "Say hush to it.",
			Range: &Range{"main.hcl", Position{2, 7, 20}, Position{2, 14, 27}},
			Snippet: &Snippet{Context: `resource "a"`, Code: `  x = "hush" + var.y`, StartLine: 2, HighlightStart: 15, HighlightEnd: 20,
				Values: []Value{{"var.y", `is "hush"`}}}},
		Warningf("Mind", "No place."),
	}
	got, err := NewReport(list, strings.NewReplacer("hush", "***").Replace).Encode()
	if err != nil {
		t.Fatal(err)
	}
	const want = `{
  "format_version": "1.0",
  "valid": false,
  "error_count": 1,
  "warning_count": 1,
  "diagnostics": [
    {
      "severity": "error",
      "summary": "Bad <thing>",
      "detail": "Say *** to it.",
      "range": {
        "filename": "main.hcl",
        "start": {
          "line": 2,
          "column": 7,
          "byte": 20
        },
        "end": {
          "line": 2,
          "column": 14,
          "byte": 27
        }
      },
      "snippet": {
        "context": "resource \"a\"",
        "code": "  x = \"***\" + var.y",
        "start_line": 2,
        "highlight_start_offset": 14,
        "highlight_end_offset": 19,
        "values": [
          {
            "traversal": "var.y",
            "statement": "is \"***\""
          }
        ]
      }
    },
    {
      "severity": "warning",
      "summary": "Mind",
      "detail": "No place."
    }
  ]
}
`
	if string(got) != want {
		t.Errorf("got\n%s", got)
	}
	if list[0].Snippet.Code != `  x = "hush" + var.y` {
		t.Error("the list was changed")
	}
	empty, err := NewReport(Diagnostics{{Severity: Warning, Snippet: &Snippet{}}}, nil).Encode()
	if err != nil || !strings.Contains(string(empty), `"context": null`) || !strings.Contains(string(empty), `"values": []`) || !strings.Contains(string(empty), `"valid": true`) {
		t.Errorf("%v\n%s", err, empty)
	}
	if none, _ := NewReport(nil, nil).Encode(); !strings.Contains(string(none), `"diagnostics": []`) {
		t.Errorf("%s", none)
	}
}

func TestError_BeginsWithAddressAndAction(t *testing.T) {
	for address, want := range map[string]string{"web": "resource web", `web["artifact.x"]`: `resource web["artifact.x"]`,
		"module.net.web": "resource module.net.web", "artifact.site": "artifact.site", "publish.live": "publish.live", "host.a": "host.a"} {
		d := Diagnostic{Summary: "It failed", Address: address, Action: "check"}
		if got := d.Error(); got != want+", check: It failed" {
			t.Errorf("%q, want %q first", got, want)
		}
	}
}
