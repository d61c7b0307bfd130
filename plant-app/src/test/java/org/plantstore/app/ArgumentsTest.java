package org.plantstore.app;

import static java.util.stream.Collectors.toMap;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.micronaut.context.exceptions.ConfigurationException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Command-line arguments and environment variables, including misspelled ones. */
class ArgumentsTest {

  @Test
  void setting_is_spelled_the_same_in_every_command() {
    for (String command : List.of("serve", "check", "migrate", "token")) {
      for (String variable : LegibleSettings.declared()) {
        String option = "--" + variable.toLowerCase(Locale.ROOT).replace('_', '-') + "=a=\"b\"\n";
        if (LegibleSettings.isReadBeforeArguments(variable)) {
          String name = option.replaceFirst("(?s)=.*", "=VALUE");
          assertEquals(
              (name + " is not an option of " + command + "; set the environment variable ")
                  + (variable + " instead"),
              refusal(command, option));
        } else {
          assertEquals(
              new Arguments(Map.of(variable, "a=\"b\"\n"), List.of()),
              Arguments.of(command, option));
        }
      }
    }
  }

  @Test
  void options_of_a_command_are_separated_from_settings() {
    assertEquals(
        new Arguments(Map.of("PORT", ""), List.of("--claim=a=b", "--subject=", "--claim=a=c")),
        Arguments.of("token", "--claim=a=b", "--port=", "--subject=", "--claim=a=c"));
    assertEquals(new Arguments(Map.of(), List.of("--token")), Arguments.of("check", "--token"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          serve   | --prot=1                     | --prot=VALUE is not an option of serve; did you mean --port=VALUE?
          serve   | --management.port=canary     | --management.port=VALUE is not an option of serve; did you mean --management-port=VALUE?
          serve   | --JWT_AUDIENCE=canary        | --JWT_AUDIENCE=VALUE is not an option of serve; did you mean --jwt-audience=VALUE?
          check   | --jwt-secret-fiel=canary     | --jwt-secret-fiel=VALUE is not an option of check; did you mean --jwt-secret-file=VALUE?
          migrate | --db-url=canary              | --db-url=VALUE is not an option of migrate; see plant-store --help
          migrate | --dry-run=canary             | --dry-run=VALUE is not an option of migrate; see plant-store --help
          migrate | --micronaut.server.port=1    | --micronaut.server.port=VALUE is not an option of migrate; see plant-store --help
          serve   | --token                      | argument 1 is not an option of serve; see plant-store --help
          serve   | --subject=canary             | --subject=VALUE is not an option of serve; see plant-store --help
          check   | --minutes=canary             | --minutes=VALUE is not an option of check; see plant-store --help
          check   | --tokn                       | argument 1 is not an option of check; did you mean --token?
          check   | --token=canary               | --token=VALUE is not an option of check; did you mean --token?
          token   | --subjct=canary              | --subjct=VALUE is not an option of token; did you mean --subject=VALUE?
          token   | --minutes                    | argument 1 is not an option of token; did you mean --minutes=VALUE?
          serve   | --port canary                | argument 1 is not an option of serve; did you mean --port=VALUE?
          token   | --subject="canary"           | --subject=VALUE must not be enclosed in quotation marks; remove them
          serve   | --port=1 --port=1            | --port=VALUE may be given only once
          token   | --minutes=1 --minutes=2      | --minutes=VALUE may be given only once
          serve   | --port=1 canary              | argument 2 is not an option of serve; see plant-store --help
          serve   | --port=1 check               | argument 2 is not an option of serve; see plant-store --help
          migrate | migrate                      | argument 1 is not an option of migrate; see plant-store --help
          check   | --LOG_LEVEL=canary           | --LOG_LEVEL=VALUE is not an option of check; set the environment variable LOG_LEVEL instead
          check   | --log-levl=canary            | --log-levl=VALUE is not an option of check; set the environment variable LOG_LEVEL instead
          serve   | --java-opts=canary           | --java-opts=VALUE is not an option of serve; set the environment variable JAVA_OPTS instead
          serve   | --plant-store-aot            | argument 1 is not an option of serve; set the environment variable PLANT_STORE_AOT instead
          serve   | --jwks-url=canary            | --jwks-url=VALUE is not an option of serve; did you mean --jwt-jwks-url=VALUE?
          serve   | --jwt-secretcanary           | argument 1 is not an option of serve; did you mean --jwt-secret=VALUE?
          serve   | --jwt-secret:canary=         | argument 1 is not an option of serve; did you mean --jwt-secret=VALUE?
          serve   | -database-password=canary    | -database-password=VALUE is not an option of serve; did you mean --database-password=VALUE?
          serve   | DATABASE_PASSWORD=canary     | DATABASE_PASSWORD=VALUE is not an option of serve; did you mean --database-password=VALUE?
          serve   | =canary                      | argument 1 is not an option of serve; see plant-store --help
          serve   | --                           | argument 1 is not an option of serve; see plant-store --help
          """)
  void invalid_arguments_are_refused_without_quoting_their_values(
      String command, String arguments, String message) {
    assertEquals(message, refusal(command, arguments.split(" ", -1)));
  }

  private static String refusal(String command, String... arguments) {
    return String.valueOf(
        assertThrows(ConfigurationException.class, () -> Arguments.of(command, arguments))
            .getMessage());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      nullValues = "-",
      textBlock =
          """
          JWT_AUDIENCES          | JWT_AUDIENCE
          JWT_REQUIRED_CLAIM     | JWT_REQUIRED_CLAIMS
          jwt_audience           | JWT_AUDIENCE
          jwt.audience           | JWT_AUDIENCE
          JTW_AUDIENCE           | JWT_AUDIENCE
          MANAGMENT_PORT         | MANAGEMENT_PORT
          DATABSE_TIMEOUT_SECONDS | DATABASE_TIMEOUT_SECONDS
          MAXCONNECTIONS         | MAX_CONNECTIONS
          LOGLEVEL               | LOG_LEVEL
          REQUEST_TIMEOUT        | REQUEST_TIMEOUT_SECONDS
          CORS_ORIGIN            | CORS_ALLOWED_ORIGINS
          TLS_CERT               | TLS_CERTIFICATE
          TLS_MIN_VERSION        | -
          DATABASE_HOST          | -
          DATABASE_USER          | DATABASE_USERNAME
          DATABASE_NAME          | -
          DATABASE_POOL_SIZE     | -
          JWT_KEY                | -
          TLS_VERIFY             | -
          MAX_BODY_SIZE          | -
          CREATE_TIMEOUT_MS      | -
          DRAIN_TIMEOUT          | -
          MAX_BODY               | MAX_BODY_BYTES
          LISTEN_ADDR            | LISTEN_ADDRESS
          JWKS_URL               | JWT_JWKS_URL
          JAVA_OPT               | JAVA_OPTS
          PLANT_STORE_AOTS       | PLANT_STORE_AOT
          """)
  void variable_that_resembles_a_setting_causes_a_warning(
      String variable, @Nullable String setting) {
    String remedy = setting == null ? "see plant-store --help" : "did you mean " + setting + "?";
    assertEquals(
        List.of(variable + " has no effect, because there is no setting with this name; " + remedy),
        DoubtfulSettings.unused(Map.of(variable, "canary")));
  }

  @Test
  void variables_of_other_programs_cause_no_warning() {
    Stream<String> variables =
        """
        DATABASE_URL=any JWT_SECRET=any PORT=1
        DATABASE_PORT=tcp://10.0.0.1:5432 DATABASE_PORT_5432_TCP=tcp://10.0.0.1:5432
        DATABASE_PORT_5432_TCP_ADDR=10.0.0.1 DATABASE_PORT_5432_TCP_PORT=5432
        DATABASE_PORT_5432_TCP_PROTO=tcp DATABASE_SERVICE_HOST=10.0.0.1 DATABASE_SERVICE_PORT=5432
        DATABASE_SERVICE_PORT_POSTGRES=5432 DATABASE_PRIMARY_PORT=tcp://10.0.0.1:5432
        DATABASE_NAME=/web/database DATABASE_ENV_POSTGRES_PASSWORD=any
        PLANTS_PORT_8080_TCP=tcp://10.0.0.1:8080 LOG_COLLECTOR_SERVICE_HOST=10.0.0.1
        PORTAL_URL=any PORT0=1 PORTS=1,2 PORT_8080=31000 LISTEN_FDS=1 LISTEN_PID=1 LISTEN_FDNAMES=a
        DATABASE_PUBLIC_URL=any DATABASE_CONNECTION_POOL_URL=any DATABASE_URL_UNPOOLED=any
        JDBC_DATABASE_URL=any TEST_DATABASE_URL=any APPSETTING_JWT_AUDIENCE=any ACCESS_TOKEN=any
        PATH=/bin HOST=any PGPORT=1 EXPORT=1 SSH_CONNECTION=any LOGNAME=any LANGUAGE=any
        HTTP_PROXY=any SSL_CERT_FILE=any JAVA_HOME=any JAVA_OPTS=any PLANT_STORE_AOT=off
        KUBERNETES_PORT_443_TCP_ADDR=10.0.0.1 LOGS_DIRECTORY=any INVOCATION_ID=any container=any
        LOG_NAMESPACE=any LOG_DIR=any LOG_PATH=any LOG_FILE=any LOG_DRIVER=any MAX_SIZE=1 POST=any
        SPORT=any PROT=any LISTEN_PORT=1 ACCESS_KEY=any JAVA_TOOL_OPTIONS=any JAVA_VERSION=17
        """
            .lines()
            .flatMap(line -> Stream.of(line.split(" ")));
    assertEquals(
        List.of(),
        DoubtfulSettings.unused(
            variables
                .map(each -> each.split("=", 2))
                .collect(toMap(parts -> parts[0], parts -> parts[1]))));
  }
}
