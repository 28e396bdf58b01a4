package answers

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// The examples of the page are what an image may answer.
func TestReadPolicy_ExamplesOfThePage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../../docs/policy.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```json\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	if len(blocks) != 3 {
		t.Fatalf("%d examples, want 3", len(blocks))
	}
	ty, err := ReadInit([]byte(blocks[1][1]))
	if err != nil || ty.Policy == nil || len(ty.Policy.Args) != 1 {
		t.Errorf("%+v, %v", ty, err)
	}
	list, err := ReadPolicy([]byte(blocks[2][1]))
	if err != nil || len(list) != 1 || list[0].Words() != "web /config/owner: the owner is missing" {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestReadPolicy_RefusesOtherAnswers(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{
		`{}`:                                 "\"results\" is missing",
		`{"results":{}}`:                     "must be a list",
		`{"results":[],"more":1}`:            "\"more\" is not known",
		`{"results":[{"message":"m"}]}`:      "\"results[0].severity\" is missing",
		`{"results":[{"severity":"error"}]}`: "\"results[0].message\" is missing",
		`{"results":[{"severity":"fatal","message":"m"}]}`:               "must be \"error\"",
		`{"results":[{"severity":"info","message":"m","path":"a"}]}`:     "JSON pointer",
		`{"results":[{"severity":"info","message":"m","colour":"red"}]}`: "is not known",
		`{"results":[]} {}`: "",
		``:                  "",
	} {
		if list, err := ReadPolicy([]byte(answer)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v", answer, list, err)
		}
	}
	for answer, want := range map[string]string{
		`{"policy":{"args":[]}}`:                "give it \"args\"",
		`{"policy":{}}`:                         "give it \"args\"",
		`{"policy":{"args":["a"],"image":"x"}}`: "is not known",
		`{"policy":{"args":["a"]},"state_action":{"args":["state"]}}`: "does not belong to a policy",
		`{"policy":{"args":["a"]},"plugs":{}}`:                        "does not belong to a policy",
		`{"protocol":1,"policy":{"args":["a"]}}`:                      "belongs to protocol 2",
	} {
		if ty, err := ReadInit([]byte(answer)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, %v", answer, ty, err)
		}
	}
}
