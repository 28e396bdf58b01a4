host "h0" {
  kubernetes {
    namespace   = "deployster"
    agent       = "r.example/deployster-pod@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
    tolerations = { key = "ops" }
  }
}
host "h1" {
  kubernetes {
    namespace   = "deployster"
    agent       = "r.example/deployster-pod@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
    tolerations = [{ key = "ops", operator = "Exists", value = "x" }]
  }
}
host "h2" {
  kubernetes {
    namespace   = "deployster"
    agent       = "r.example/deployster-pod@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
    tolerations = [{ operator = "Equal" }]
  }
}
host "h3" {
  kubernetes {
    namespace   = "deployster"
    agent       = "r.example/deployster-pod@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
    tolerations = [{ operator = "Exists", effect = "Never" }]
  }
}
host "h4" {
  kubernetes {
    namespace   = "deployster"
    agent       = "r.example/deployster-pod@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
    tolerations = ["x"]
  }
}
host "h5" {
  kubernetes {
    namespace   = "deployster"
    agent       = "r.example/deployster-pod@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
    tolerations = [{ operator = "Exists", toleration_seconds = 5 }]
  }
}
host "h6" {
  kubernetes {
    namespace   = "deployster"
    agent       = "r.example/deployster-pod@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
    tolerations = [{ operator = "Exists", effect = "NoExecute", toleration_seconds = 0.5 }]
  }
}
host "h7" {
  kubernetes {
    namespace   = "deployster"
    agent       = "r.example/deployster-pod@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
    tolerations = [{ operator = ["Exists"] }]
  }
}
host "h8" {
  kubernetes {
    namespace   = "deployster"
    agent       = "r.example/deployster-pod@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
    tolerations = [{ key = "-", operator = "Exists" }]
  }
}
host "h9" {
  kubernetes {
    namespace   = "deployster"
    agent       = "r.example/deployster-pod@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
    tolerations = [{ operator = "Is" }]
  }
}
# error 5:19 Invalid tolerations
# error 12:19 Invalid tolerations
# error 19:19 Invalid tolerations
# error 26:19 Invalid tolerations
# error 33:19 Invalid tolerations
# error 40:19 Invalid tolerations
# error 47:19 Invalid tolerations
# error 54:19 Invalid tolerations
# error 61:19 Invalid tolerations
# error 68:19 Invalid tolerations
