package org.plantstore.domain;

import static java.util.stream.Collectors.joining;

import java.io.IOException;
import java.io.ObjectStreamClass;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleFinder;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.AnnotatedType;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Field;
import java.lang.reflect.Member;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;

/** What other modules can see of this one, one line for each thing they can use. */
final class PublicApi {

  private static final String KIT = "org.plantstore.domain.contract";

  /** What serialization calls, whether it is visible or not. */
  private static final Set<String> OF_SERIALIZATION =
      Set.of("writeObject", "readObject", "readObjectNoData", "writeReplace", "readResolve");

  private PublicApi() {}

  /** Answers the lines in the order of the alphabet, each of which says by itself what it is of. */
  static List<String> lines() {
    ModuleDescriptor module =
        ModuleFinder.of(Path.of("target/classes")).findAll().iterator().next().descriptor();
    return Stream.of(
            ofModule(module),
            module.exports().stream()
                .flatMap(export -> ofPackage("target/classes", export.source())),
            ofPackage("target/test-classes", KIT))
        .flatMap(lines -> lines)
        .map(line ->
            line.replaceAll("\\b(java\\.lang|(?<!@)org\\.plantstore\\.domain)\\.(?=[A-Z])", "")
                .replace('$', '.')
                .strip())
        .sorted()
        .toList();
  }

  /** Answers the types of a package that other packages can use, the nested ones too. */
  static Stream<Class<?>> types(String classes, String packageName) {
    Path folder = Path.of(classes, packageName.split("\\."));
    try (Stream<Path> files = Files.list(folder)) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(file -> file.endsWith(".class") && !file.equals("package-info.class"))
          .<Class<?>>map(file -> load(packageName + "." + file.replace(".class", "")))
          .filter(PublicApi::isVisible)
          .toList()
          .stream();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Class<?> load(String name) {
    try {
      return Class.forName(name);
    } catch (ClassNotFoundException e) {
      throw new IllegalStateException(e);
    }
  }

  private static boolean isVisible(Class<?> type) {
    return isVisible(type.getModifiers())
        && (type.getDeclaringClass() == null || isVisible(type.getDeclaringClass()));
  }

  private static boolean isVisible(int modifiers) {
    return Modifier.isPublic(modifiers) || Modifier.isProtected(modifiers);
  }

  private static Stream<String> ofModule(ModuleDescriptor module) {
    return Stream.of(
            module.modifiers().stream().map(PublicApi::word),
            // Without the version of the JDK that a module was compiled with.
            module.requires().stream()
                .map(requires ->
                    "requires "
                        + requires.modifiers().stream().map(PublicApi::word).collect(joining())
                        + requires.name()),
            module.exports().stream().map(exports -> "exports " + exports),
            module.opens().stream().map(opens -> "opens " + opens),
            module.uses().stream().map(uses -> "uses " + uses),
            module.provides().stream().map(provides -> "provides " + provides))
        .flatMap(lines -> lines)
        .map(line -> "module " + module.name() + ": " + line);
  }

  private static String word(Enum<?> modifier) {
    return modifier.name().toLowerCase(Locale.ROOT) + " ";
  }

  private static Stream<String> ofPackage(String classes, String packageName) {
    List<Class<?>> types = types(classes, packageName).toList();
    return Stream.concat(
        Stream.of("package " + packageName + ": " + annotations(types.get(0).getPackage())),
        types.stream().flatMap(PublicApi::ofType));
  }

  private static Stream<String> ofType(Class<?> type) {
    return Stream.of(
            Stream.of(declaration(type)),
            Stream.ofNullable(type.getAnnotatedSuperclass())
                .map(parent -> "extends " + text(parent)),
            Arrays.stream(type.getAnnotatedInterfaces())
                .map(parent -> "implements " + text(parent)),
            Stream.ofNullable(type.getPermittedSubclasses())
                .flatMap(Arrays::stream)
                .map(child -> "permits " + child.getTypeName()),
            members(type.getDeclaredFields(), PublicApi::field),
            members(type.getDeclaredConstructors(), PublicApi::constructor),
            members(type.getDeclaredMethods(), PublicApi::method),
            Stream.of(type)
                .filter(Serializable.class::isAssignableFrom)
                .flatMap(PublicApi::serialized))
        .flatMap(lines -> lines)
        .map(line -> type.getCanonicalName() + ": " + line);
  }

  private static String declaration(Class<?> type) {
    String components =
        Stream.ofNullable(type.getRecordComponents())
            .flatMap(Arrays::stream)
            .map(component -> text(component.getAnnotatedType()) + " " + component.getName())
            .collect(joining(", "));
    return annotations(type)
        + type.toGenericString()
        + (type.isRecord() ? "(" + components + ")" : "");
  }

  private static <T extends AnnotatedElement & Member> Stream<String> members(
      T[] members, Function<T, String> declaration) {
    return Arrays.stream(members)
        .filter(member -> isVisible(member.getModifiers()) && !member.isSynthetic())
        .map(member ->
            annotations(member)
                + Modifier.toString(
                    member.getModifiers() & ~(Modifier.TRANSIENT | Modifier.VOLATILE))
                + " "
                + declaration.apply(member));
  }

  private static String field(Field field) {
    return text(field.getAnnotatedType()) + " " + field.getName();
  }

  private static String constructor(Constructor<?> constructor) {
    return constructor.getDeclaringClass().getSimpleName() + parameters(constructor);
  }

  private static String method(Method method) {
    return (method.isDefault() ? "default " : "")
        + text(method.getAnnotatedReturnType())
        + " "
        + method.getName()
        + parameters(method);
  }

  private static String parameters(Executable executable) {
    return Arrays.stream(executable.getAnnotatedParameterTypes())
            .map(PublicApi::text)
            .collect(joining(", ", "(", ")"))
        + Arrays.stream(executable.getAnnotatedExceptionTypes())
            .map(exception -> " throws " + text(exception))
            .collect(joining())
        + Arrays.stream(executable.getTypeParameters())
            .flatMap(parameter ->
                Arrays.stream(parameter.getAnnotatedBounds())
                    .map(bound -> " where " + parameter + " extends " + text(bound)))
            .collect(joining());
  }

  private static Stream<String> serialized(Class<?> type) {
    ObjectStreamClass form = ObjectStreamClass.lookup(type);
    String fields =
        Arrays.stream(form.getFields())
            .map(field -> field.getType().getTypeName() + " " + field.getName())
            .collect(joining(", ", " (", ")"));
    return Stream.concat(
        Stream.of("serialized as " + form.getSerialVersionUID() + fields),
        Arrays.stream(type.getDeclaredMethods())
            .filter(method -> OF_SERIALIZATION.contains(method.getName()))
            .map(method -> "serialized by " + method(method)));
  }

  private static String annotations(AnnotatedElement element) {
    return Arrays.stream(element.getAnnotations())
        .map(annotation -> shortened("@" + annotation.annotationType().getName() + " "))
        .sorted()
        .collect(joining());
  }

  /** As in a source; JDKs differ in whether an annotation without values has parentheses. */
  private static String text(AnnotatedType type) {
    return shortened(type.toString().replaceAll("(@[\\w.$]+)\\(\\)", "$1"));
  }

  /** Shortens JSpecify's annotations alone, so that another {@code @Nullable} is a change. */
  private static String shortened(String annotations) {
    return annotations.replace("@org.jspecify.annotations.", "@");
  }
}
