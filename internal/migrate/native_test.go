package migrate

import (
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// A file in JSON becomes what the same in HCL becomes, and what is noted of it names its line.
func TestRun_ReadsJSON(t *testing.T) {
	t.Parallel()
	const written = `
terraform {
  required_providers {
    aws = { source = "example.com/x/aws" }
  }
}
module "m" {
  source    = "./m"
  providers = { aws = aws.us }
}
variable "v" {
  type    = map(object({ a = string }))
  default = { k = { a = "1" } }
  validation {
    condition     = length(var.v) > 0
    error_message = "none"
  }
}
provider "aws" {
  alias  = "us"
  region = "us"
}
locals {
  text = "a \"b\" \\ ${aws_y.m.id} ${join("-", ["x", "y"])}\n$${no}"
}
resource "aws_x" "n" {
  provider   = aws.us
  for_each   = (var.v)
  name       = (each.value.a)
  tags       = { "a b" = "x", c = null }
  ports      = [1, 2.50, true]
  disk       = [{ size = 1 }, { size = 2 }]
  depends_on = [aws_y.m]
  lifecycle {
    ignore_changes = [tags["a b"], name]
    precondition {
      condition     = (length(each.key) > 0)
      error_message = "no"
    }
  }
}
resource "aws_y" "m" {
  dynamic "disk" {
    for_each = [1]
    content {
      size = "${disk.value}G"
    }
  }
}
moved {
  from = aws_x.o
  to   = aws_x.n
}
output "o" {
  value = (values(aws_x.n))
}
`
	const inJSON = `{
  "//": "a comment",
  "terraform": [{"required_providers": {"aws": {"source": "example.com/x/aws"}}}],
  "module": {"m": {"source": "./m", "providers": {"aws": "aws.us"}}},
  "variable": { "v": {
    "type": "map(object({ a = string }))", "default": {"k": {"a": "1"}},
    "validation": {"condition": "${length(var.v) > 0}", "error_message": "none"}
  } },
  "provider": {"aws": [{"alias": "us", "region": "us"}]},
  "locals": {"text": "a \"b\" \\ ${aws_y.m.id} ${join(\"-\", [\"x\", \"y\"])}\n$${no}"},
  "resource": [
    {"aws_x": {"n": {
      "provider": "aws.us", "for_each": "${var.v}", "name": "${each.value.a}", "tags": {"a b": "x", "c": null}, "ports": [1, 2.50, true],
      "disk": [{"size": 1}, {"size": 2}], "depends_on": ["aws_y.m"], "//": "is left out",
      "lifecycle": {"ignore_changes": ["tags[\"a b\"]", "name"], "precondition": [{"condition": "${length(each.key) > 0}", "error_message": "no"}]}
    } } },
    {"aws_y": {"m": {"dynamic": {"disk": {"for_each": [1], "content": {"size": "${disk.value}G"}}}}}}
  ],
  "moved": [{"from": "aws_x.o", "to": "aws_x.n"}],
  "output": {"o": {"value": "${values(aws_x.n)}"}}
}`
	plain := func(text []byte) string { // as it is written is not what it says
		return strings.Map(func(r rune) rune {
			if strings.ContainsRune(" \n()\"", r) {
				return -1
			}
			return r
		}, string(text))
	}
	const locked = "provider \"example.com/x/aws\" {\n  version = \"1.0.0\"\n}\n"
	const inner = "terraform {\n  required_providers {\n    aws = { source = \"example.com/x/aws\" }\n  }\n}\nresource \"aws_x\" \"in\" {}\n"
	want, err := Run(Options{Dir: directory(t, map[string]string{"main.tf": written, "m/x.tf": inner, ".terraform.lock.hcl": locked})})
	if err != nil {
		t.Fatal(err)
	}
	got, err := Run(Options{Dir: directory(t, map[string]string{"main.tf.json": inJSON, "m/x.tf": inner, ".terraform.lock.hcl": locked})})
	if err != nil {
		t.Fatal(err)
	}
	for name := range want.Files {
		if plain(got.Files[name]) != plain(want.Files[name]) {
			t.Errorf("%s is\n%s\nand of .tf it is\n%s", name, got.Files[name], want.Files[name])
		}
		if _, diags := hclsyntax.ParseConfig(got.Files[name], name, hcl.InitialPos); diags.HasErrors() {
			t.Errorf("%s cannot be read: %v", name, diags)
		}
	}
	if text := string(want.Files["m/x.hcl"]); !strings.Contains(text, "type.aws_us}") {
		t.Errorf("the module has another provider: %s", text)
	}
	both, err := Run(Options{Dir: directory(t, map[string]string{"main.tf": "resource \"aws_x\" \"n\" {}", "main.tf.json": `{"output": {"o": {"value": 1}}}`})})
	if err != nil || both.Files["main.hcl"] == nil || !strings.Contains(string(both.Files["main-json.hcl"]), `output "o"`) {
		t.Errorf("beside one that is not in JSON: %v, %v", err, both.Files)
	}
}

func TestRun_RefusesInJSON(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"thing": {}}`: "x.tf.json: line 1: there is no thing block here",
		"{\n\"resource\": {\n\"aws_x\": {\"n\": {\n\"provisioner\": {\"local-exec\": {}}}}}}": "x.tf.json:4: aws_x.n has one",
		"{\n\"output\": {\"o\": {\n\"value\": \"${\"}}}":                                      "x.tf.json: line 3: ",
		`{"resource": [1]}`:            "line 1: an object was expected",
		`{"output": {"o": {}}`:         "line 1: ",
		`{} {}`:                        "text follows its end",
		`{"locals": {"a b": 1}}`:       "Cannot read the configuration",
		`{"variable": {"v": {"type"}}`: "line 1: ",
	} {
		made, err := Run(Options{Dir: directory(t, map[string]string{"x.tf.json": text})})
		if err == nil || !strings.Contains(err.Error(), want) || made.Files != nil {
			t.Errorf("%s: %v, without %q", text, err, want)
		}
	}
}
