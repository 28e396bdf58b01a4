package fakeapi

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// reply writes an object, or an error as a Status.
func reply(w http.ResponseWriter, answer any) {
	code := http.StatusOK
	if err, is := answer.(error); is {
		status, known := err.(apierrors.APIStatus)
		if !known {
			status = apierrors.NewInternalError(err)
		}
		out := status.Status()
		out.TypeMeta = meta.TypeMeta{APIVersion: "v1", Kind: "Status"}
		answer, code = out, int(out.Code)
		if out.Details != nil && out.Details.RetryAfterSeconds > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(int(out.Details.RetryAfterSeconds)))
		}
	}
	var b bytes.Buffer
	_ = json.NewEncoder(&b).Encode(answer) // all objects can be encoded
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = w.Write(b.Bytes()) // a client that is gone does not matter
}

// cut breaks the connection.
func cut(w http.ResponseWriter) {
	if local, is := w.(*recorder); is {
		local.cut = true
	}
	if h, is := w.(http.Hijacker); is {
		if conn, _, err := h.Hijack(); err == nil {
			_ = conn.Close()
		}
	}
}
