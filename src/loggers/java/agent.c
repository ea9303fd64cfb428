// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * agent.c - the native methods of org.ltt.agent.Events: events of Java's logging libraries, with
 * LTTng's names and fields. Payloads are serialised in Java, so that an event is one call.
 */
#include <jni.h>
#include <stdlib.h>

#include <ltt/provider.h>

#define SMALL_BYTES 1024

#define TEXT(name)                                            \
	{                                                     \
		name, NULL, 0, LTT_KIND_STRING, 0, 0, 0, 0, 0 \
	}
#define NUMBER(name, bits)                                                    \
	{                                                                     \
		name, NULL, 0, LTT_KIND_INT, bits, 0, 10, LTT_FIELD_SIGNED, 0 \
	}

static const struct ltt_field jul_fields[] = {
	TEXT("msg"),
	TEXT("logger_name"),
	TEXT("class_name"),
	TEXT("method_name"),
	NUMBER("long_millis", 64),
	NUMBER("int_loglevel", 32),
	NUMBER("int_threadid", 32),
};

static const struct ltt_field log4j_fields[] = {
	TEXT("msg"),
	TEXT("logger_name"),
	TEXT("class_name"),
	TEXT("method_name"),
	TEXT("filename"),
	NUMBER("line_number", 32),
	NUMBER("timestamp", 64),
	NUMBER("int_loglevel", 32),
	TEXT("thread_name"),
};

/* 1 while the event of a library has a listener. Java reads them without a call. */
static int flags[3];

#define LIBRARY(name, fields, flag)                                                              \
	{                                                                                        \
		name,                                                                            \
		{                                                                                \
			sizeof(struct ltt_provider_event), sizeof(fields) / sizeof((fields)[0]), \
				LTT_DEBUG, 0, "event", fields, ltt_provider_flag, flag           \
		}                                                                                \
	}

/* By the constants of Events. */
static const struct {
	const char *name;
	struct ltt_provider_event event;
} libraries[] = {
	LIBRARY("lttng_jul", jul_fields, &flags[0]),
	LIBRARY("lttng_log4j", log4j_fields, &flags[1]),
	LIBRARY("lttng_log4j2", log4j_fields, &flags[2]),
};

static struct ltt_provider *provider_of(jlong handle)
{
	return (struct ltt_provider *)(intptr_t)handle;
}

JNIEXPORT jlong JNICALL Java_org_ltt_agent_Events_add(JNIEnv *env, jclass class, jint library)
{
	struct ltt_provider *provider;

	(void)env, (void)class;
	if (ltt_provider_add(libraries[library].name, &libraries[library].event, 1, &provider) < 0)
		return 0;
	return (jlong)(intptr_t)provider;
}

JNIEXPORT jobject JNICALL Java_org_ltt_agent_Events_flag(JNIEnv *env, jclass class, jint library)
{
	(void)class;
	return (*env)->NewDirectByteBuffer(env, &flags[library], sizeof(flags[0]));
}

/* @name: UTF-8, and a byte that is 0. */
JNIEXPORT void JNICALL Java_org_ltt_agent_Events_logger(JNIEnv *env, jclass class, jlong handle,
							jbyteArray name, jint len)
{
	jbyte text[LTT_PROVIDER_LOGGER_MAX + 1];

	(void)class;
	if (len < 1 || len > (jint)sizeof(text))
		return;
	(*env)->GetByteArrayRegion(env, name, 0, len, text);
	(void)!ltt_provider_logger(provider_of(handle), (const char *)text);
}

JNIEXPORT void JNICALL Java_org_ltt_agent_Events_emit(JNIEnv *env, jclass class, jlong handle,
						      jbyteArray payload, jint len)
{
	jbyte small[SMALL_BYTES], *bytes = len <= SMALL_BYTES ? small : malloc((size_t)len);

	(void)class;
	if (!bytes)
		return;
	(*env)->GetByteArrayRegion(env, payload, 0, len, bytes);
	ltt_provider_emit(provider_of(handle), 0, bytes, (size_t)len);
	if (bytes != small)
		free(bytes);
}
