# OmniAuth: prints where the browser goes, reads where it came back, prints who signed in.
require 'json'
require 'omniauth_openid_connect'
require 'rack'

OmniAuth.config.request_validation_phase = nil
OmniAuth.config.logger = Logger.new($stderr)
issuer = URI(ENV['ISSUER'])
application = OmniAuth::Strategies::OpenIDConnect.new(
  ->(env) { [200, {}, [JSON.generate(email: env['omniauth.auth'].info.email)]] },
  scope: %i[openid profile email], issuer: ENV['ISSUER'], client_auth_method: :basic,
  client_signing_alg: :RS256, pkce: true,
  client_options: {
    scheme: issuer.scheme, host: issuer.host, port: issuer.port,
    identifier: ENV['ID'], secret: ENV['SECRET'], redirect_uri: ENV['REDIRECT'],
    authorization_endpoint: '/oauth2/authorize', token_endpoint: '/oauth2/token',
    userinfo_endpoint: '/oauth2/userinfo', jwks_uri: "#{ENV['ISSUER']}/jwks"
  }
)
session = {}
asked = Rack::MockRequest.env_for('/auth/openid_connect', method: 'POST', 'rack.session' => session)
puts application.call(asked)[1]['Location']
$stdout.flush
query = URI($stdin.gets.strip).query
back = Rack::MockRequest.env_for("/auth/openid_connect/callback?#{query}", 'rack.session' => session)
puts application.call(back)[2].first
