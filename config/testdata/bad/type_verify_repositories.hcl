type "z" {
  image = "example.com/a/b:1"
  verify {
    key = <<EOT
-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=
-----END PUBLIC KEY-----
EOT
    repository = "example.com/here"
  }
}
type "same" {
  image = "example.com/a/b:1"
  verify {
    key = <<EOT
-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=
-----END PUBLIC KEY-----
EOT
    repository = "example.com/here"
  }
}
type "b" {
  image = "example.com/a/b:1"
  verify {
    key = <<EOT
-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=
-----END PUBLIC KEY-----
EOT
    repository = "example.com/there"
  }
}
type "other" {
  image = "example.com/a/b:2"
  verify {
    key = <<EOT
-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=
-----END PUBLIC KEY-----
EOT
    repository = "example.com/there"
  }
}
type "own" {
  image = "example.com/a/b:3"
  verify {
    key = <<EOT
-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=
-----END PUBLIC KEY-----
EOT
  }
}
type "named" {
  image = "example.com/a/b:3"
  verify {
    key = <<EOT
-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=
-----END PUBLIC KEY-----
EOT
    repository = "example.com/a/b"
  }
}
type "a" {
  image = "example.com/a/b:3"
  verify {
    key = <<EOT
-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=
-----END PUBLIC KEY-----
EOT
    repository = "example.com/here"
  }
}
# error 23:1 Signatures of two repositories
# error 55:1 Signatures of two repositories
# error 66:1 Signatures of two repositories
